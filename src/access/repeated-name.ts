/** A text with the colon that makes it a name, or where an object begins or ends. */
const PART = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * The first name that an object has twice; undefined where none has. `JSON.parse` takes the last of them and says nothing, so that
 * whoever reads the first one is deceived.
 *
 * @param json a text that `JSON.parse` has read without an error
 */
export function repeatedName(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [part, text, colon] of json.matchAll(PART)) {
    if (part === "{") open.push(new Set());
    else if (part === "}") open.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(text!);
      const names = open.at(-1)!;
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return undefined;
}
