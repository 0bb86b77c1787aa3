import type { RecordContent, RecordError, WrittenRecord } from "../../../loggers/adapter.ts";
import { isError, snapshotOf } from "../../kit/loggers/snapshot.ts";

/** Under this key a format leaves the text that transports write. */
const MESSAGE = Symbol.for("message");

/** The keys under which applications hand over errors. */
const ERROR_KEYS = ["error", "err"] as const;
const KEYS_WITH_ERRORS = ["message", ...ERROR_KEYS] as const;

type Fields = Readonly<Record<string, unknown>>;

/** A record after its format. */
export type FormattedRecord = Fields & { readonly [MESSAGE]?: unknown };

/** What is known about a record besides what it says. */
export type RecordFacts = Omit<WrittenRecord, "size" | "read">;

/**
 * A record for a sink. It shows the JSON that the format made of it, since that is what is written, or else a copy of its fields.
 * JSON shows an error as `{}`, so the error itself, which transports are handed, is shown there.
 */
export function writtenRecord(record: FormattedRecord, { verbosity, nativeLevel, hidden }: RecordFacts): WrittenRecord {
  const text = record[MESSAGE];
  if (typeof text !== "string" || !/^\{\s*"/.test(text)) {
    const { data, size } = snapshotOf(isError(record) ? withError(record) : record);
    const shown = data as Fields;
    return { verbosity, nativeLevel, hidden, size, read: () => contentOf(asWritten(shown, text)) };
  }
  const error = errorIn(record);
  const size = text.length;
  return { verbosity, nativeLevel, hidden, size, read: () => contentOf(parsed(text, error)) };
}

/** An error that is a record has fields that JSON does not show. */
function withError(record: Error): Fields {
  const { message, stack } = record;
  return { ...(record as object), message, stack };
}

/** An error that a record is or contains. */
interface ContainedError {
  /** Undefined if the record is the error. */
  readonly key: string | undefined;
  readonly copy: Fields;
}

function errorIn(record: FormattedRecord): ContainedError | undefined {
  if (isError(record)) return { key: undefined, copy: { message: record.message, stack: record.stack } };
  for (const key of KEYS_WITH_ERRORS) {
    const value = record[key];
    if (isError(value)) return { key, copy: snapshotOf(value).data as Fields };
  }
  return undefined;
}

/** What a text of JSON says. An error that it shows without message and stack is added. */
function parsed(text: string, error: ContainedError | undefined): Fields {
  let shown: Fields;
  try {
    shown = JSON.parse(text) as Fields;
  } catch {
    return { message: text };
  }
  if (error === undefined) return shown;
  const { key, copy } = error;
  if (key === undefined) return shown.message === undefined ? { ...copy, ...shown } : shown;
  const value = shown[key];
  if (looksLikeError(value) || !isObject(value)) return shown;
  return { ...shown, [key]: { ...copy, ...value } };
}

/** What formats write in another way when they quote a text. */
const QUOTED = /[\\"'`\p{Cc}]+/u;

/** A text without the message as the record has it, quoted or not, has another one, such as one without secrets. */
function asWritten(shown: Fields, text: unknown): Fields {
  const { message } = shown;
  if (typeof text !== "string" || typeof message !== "string") return shown;
  return message.split(QUOTED).every((part) => text.includes(part)) ? shown : { ...shown, message: text };
}

function contentOf(shown: Fields): RecordContent {
  const { level: _level, timestamp: _timestamp, message, stack, ...rest } = shown;
  const fields: Record<string, unknown> = rest;
  if (looksLikeError(message)) {
    const error = errorOf(message);
    return { message: error.message, fields: { ...moreOf(message), ...fields }, error };
  }
  const content = { message: textOf(message), fields };
  if (typeof stack === "string") return { ...content, error: errorOf({ message: content.message, stack }) };
  for (const key of ERROR_KEYS) {
    const value = fields[key];
    if (!looksLikeError(value)) continue;
    const more = moreOf(value);
    if (Object.keys(more).length > 0) fields[key] = more;
    else delete fields[key];
    return { ...content, error: errorOf(value) };
  }
  return content;
}

/** The fields of an error that are not shown as such. */
function moreOf({ type: _type, name: _name, message: _message, stack: _stack, ...more }: Fields): Fields {
  return more;
}

function textOf(message: unknown): string {
  if (message === undefined) return "";
  return typeof message === "string" ? message : JSON.stringify(message);
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function looksLikeError(value: unknown): value is Fields {
  return isObject(value) && (typeof value.stack === "string" || typeof value.message === "string");
}

function errorOf({ type, name, message, stack }: Fields): RecordError {
  const trace = typeof stack === "string" ? stack : undefined;
  const [, first, said] = /^([A-Za-z_$][\w$.]*)(?:: ([\s\S]*?))?(?:\n {4}at |$)/.exec(trace ?? "") ?? [];
  return {
    type: [type, name].find((each) => typeof each === "string" && each !== "") ?? first ?? "Error",
    message: type === undefined && said !== undefined ? said : textOf(message),
    ...(trace !== undefined && { stack: trace }),
  } as RecordError;
}
