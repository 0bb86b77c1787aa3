/**
 * Reads JSON in which no object has a name twice. `JSON.parse` takes the last of them and says nothing, so that whoever reads the
 * first one is deceived.
 *
 * @throws Error that says what is wrong, as the rest of a sentence about the file, and repeats no value
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
  throw new Error(
    `has ${JSON.stringify(name.slice(0, MAX_NAME))} twice in one object, and nobody could tell which one counts`,
  );
}

/** The most characters of a name that are told. */
const MAX_NAME = 64;

/** A text with the colon that makes it a name, or where an object begins or ends. */
const PART = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/** The first name that an object has twice in a text that is JSON. */
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
