import { isRecord } from "../../../common/record.ts";
import type { RecordContent, RecordError, WrittenRecord } from "../../../loggers/adapter.ts";
import type { LineFormat } from "./line-format.ts";

/** A record as the text that was written. */
export class LineRecord implements WrittenRecord {
  readonly hidden: boolean;
  readonly #format: LineFormat;
  readonly #line: string;
  readonly #value: number;
  readonly #time: string;

  /** `value` is that of its level, and `time` the text of its time in the line. */
  constructor(format: LineFormat, line: string, value: number, time: string, hidden: boolean) {
    this.hidden = hidden;
    this.#format = format;
    this.#line = line;
    this.#value = value;
    this.#time = time;
  }

  get verbosity(): number {
    return this.#format.verbosity(this.#value);
  }

  get nativeLevel(): string {
    return this.#format.label(this.#value);
  }

  get size(): number {
    return this.#line.length;
  }

  /** The record as `hooks.streamWrite` leaves it. */
  finished(): LineRecord {
    const line = String(this.#format.streamWrite!(this.#line));
    return new LineRecord(this.#format, line, this.#value, this.#time, this.hidden);
  }

  read(): RecordContent {
    const { messageKey, errorKey, nestedKey } = this.#format;
    const fields = parsed(this.#line, this.#format.head(this.#value, this.#time));
    if (fields === undefined) return { message: this.#line.trimEnd(), fields: {} };
    const message = fields[messageKey];
    delete fields[messageKey];
    const nested = nestedKey ? fields[nestedKey] : undefined;
    const error = (isRecord(nested) && takeError(nested, errorKey)) || takeError(fields, errorKey);
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
