/**
 * Reads JSON in which no object has a name twice. `JSON.parse` silently takes the last of them, which deceives a reader who looks at the
 * first.
 *
 * @throws Error that says what is wrong, as the rest of a sentence about the file, without repeating any value
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let content: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    content = JSON.parse(text);
  } catch {
    // The error of JSON.parse repeats what it could not read.
    throw new Error("is not JSON in UTF-8");
  }
  const name = repeatedName(text);
  if (name === undefined) return content;
  throw new Error(`has ${JSON.stringify(name.slice(0, MAX_NAME))} twice in one object; keep one`);
}

/** The most characters of a name that a message repeats. */
const MAX_NAME = 64;

/** A string with the colon that makes it a name, or the beginning or end of an object. */
const PART = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/** The first name that an object has twice in JSON. */
function repeatedName(json: string): string | undefined {
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
