import { isRecord } from "../../../common/record.ts";
import type { RecordContent, RecordError, WrittenRecord } from "../../../loggers/adapter.ts";

/** The keys under which a logger writes what has a meaning. */
export interface LineKeys {
  readonly message: string;
  readonly error: string;
  /** The one that the application's fields are nested under, if any. */
  readonly nested: string | null | undefined;
}

/** A record as the text that was written. */
export class LineRecord implements WrittenRecord {
  readonly verbosity: number;
  readonly nativeLevel: string;
  readonly hidden: boolean;
  readonly #line: string;
  readonly #head: string;
  readonly #keys: LineKeys;

  constructor(
    { verbosity, nativeLevel, hidden }: Pick<WrittenRecord, "verbosity" | "nativeLevel" | "hidden">,
    line: string,
    head: string,
    keys: LineKeys,
  ) {
    this.verbosity = verbosity;
    this.nativeLevel = nativeLevel;
    this.hidden = hidden;
    this.#line = line;
    this.#head = head;
    this.#keys = keys;
  }

  get size(): number {
    return this.#line.length;
  }

  read(): RecordContent {
    const fields = parsed(this.#line, this.#head);
    if (fields === undefined) return { message: this.#line.trimEnd(), fields: {} };
    const keys = this.#keys;
    const message = fields[keys.message];
    delete fields[keys.message];
    const nested = keys.nested ? fields[keys.nested] : undefined;
    const error = (isRecord(nested) && takeError(nested, keys.error)) || takeError(fields, keys.error);
    return { message: textOf(message), fields, error };
  }
}

/** What a line has after its level and time; undefined if it is not an object. */
function parsed(line: string, head: string): Record<string, unknown> | undefined {
  try {
    // A field of the application may have the same key as the level or the time.
    if (line.startsWith(head)) return JSON.parse(`{${line.slice(head.length).replace(/^,/, "")}`);
    // `hooks.streamWrite` changed it.
    const fields = JSON.parse(line) as Record<string, unknown>;
    if (!isRecord(fields)) return undefined;
    for (const key of Object.keys(JSON.parse(`${head}}`))) delete fields[key];
    return fields;
  } catch {
    return undefined;
  }
}

/** Removes the error that pino's serializer wrote. Properties that only this error has stay under its key. */
function takeError(fields: Record<string, unknown>, key: string): RecordError | undefined {
  const found = fields[key];
  if (!isRecord(found)) return undefined;
  const { type, message, stack, ...others } = found;
  if (typeof type !== "string" || typeof message !== "string") return undefined;
  if (Object.keys(others).length > 0) fields[key] = others;
  else delete fields[key];
  return { type, message, stack: typeof stack === "string" ? stack : undefined };
}

function textOf(message: unknown): string {
  if (typeof message === "string") return message;
  return message === undefined ? "" : JSON.stringify(message);
}
