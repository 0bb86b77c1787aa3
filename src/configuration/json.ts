/** Where something stands in a file, each counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** JSON with the place of each value, by its path: `places.get("limits.maxConnections")`, `places.get("cors.origins.0")`. */
export interface PlacedJson {
  readonly value: unknown;
  readonly places: ReadonlyMap<string, Place>;
}

/** A text that is no JSON, or says something twice. */
export class JsonFault extends Error {
  override readonly name = "JsonFault";
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.place = place;
  }
}

const DEEPEST = 32;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\x00-\x1f]|\\.)*"/y;
const SPACE = /[ \t\r\n]*/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

/**
 * Reads JSON (RFC 8259). Two values of one name are an error: which of them would count, nobody who reads the file could tell.
 * Objects have no prototype, so that every name is only a name.
 *
 * @throws JsonFault for the first thing that is wrong.
 */
export function parseJson(source: string): PlacedJson {
  const text = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source;
  const places = new Map<string, Place>();
  let at = 0;

  const placeOf = (index: number): Place => {
    const before = text.slice(0, index).split("\n");
    return { line: before.length, column: before.at(-1)!.length + 1 };
  };
  const fault = (message: string, index = at) => new JsonFault(message, placeOf(index));
  const found = () =>
    at >= text.length ? "the end of the file" : JSON.stringify(String.fromCodePoint(text.codePointAt(at)!));
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    at += match?.length ?? 0;
    return match;
  };
  const skip = (character: string): boolean => {
    take(SPACE);
    if (text[at] !== character) return false;
    at++;
    return true;
  };

  function string(): string {
    const start = at;
    const literal = take(STRING);
    if (literal === undefined) throw fault("a text has no end, or a line break or control character in it", start);
    try {
      return JSON.parse(literal);
    } catch {
      throw fault("a text has an escape that does not exist", start);
    }
  }

  function value(path: string, depth: number): unknown {
    take(SPACE);
    if (depth > DEEPEST) throw fault(`more than ${DEEPEST} levels deep`);
    places.set(path, placeOf(at));
    if (text[at] === '"') return string();
    if (skip("{")) return object(path, depth);
    if (skip("[")) return list(path, depth);
    const number = take(NUMBER);
    if (number !== undefined) return Number(number);
    for (const [word, meaning] of WORDS) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return meaning;
    }
    throw fault(`expected a value, found ${found()}`);
  }

  function object(path: string, depth: number): object {
    const members: Record<string, unknown> = Object.create(null);
    if (skip("}")) return members;
    do {
      take(SPACE);
      if (text[at] !== '"') throw fault(`expected a name in double quotes, found ${found()}`);
      const start = at;
      const name = string();
      if (Object.hasOwn(members, name)) throw fault(`${JSON.stringify(name)} stands here a second time`, start);
      if (!skip(":")) throw fault(`expected ":" after ${JSON.stringify(name)}, found ${found()}`);
      members[name] = value(path === "" ? name : `${path}.${name}`, depth + 1);
    } while (skip(","));
    if (!skip("}")) throw fault(`expected "," or "}", found ${found()}`);
    return members;
  }

  function list(path: string, depth: number): unknown[] {
    const entries: unknown[] = [];
    if (skip("]")) return entries;
    do entries.push(value(`${path}.${entries.length}`, depth + 1));
    while (skip(","));
    if (!skip("]")) throw fault(`expected "," or "]", found ${found()}`);
    return entries;
  }

  const whole = value("", 0);
  take(SPACE);
  if (at < text.length) throw fault(`expected the end of the file, found ${found()}`);
  return { value: whole, places };
}
