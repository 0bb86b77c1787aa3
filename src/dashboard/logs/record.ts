import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { LogRecord } from "../../gen/actuator/v3/logs_pb.ts";

/** What the server shows instead of a secret. */
export const REDACTED = "[redacted]";

/** When a record was written, in milliseconds since the epoch. */
export function timeOf({ time }: LogRecord): number {
  return time === undefined ? 0 : Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6);
}

/** A field by its dotted path. */
export type Field = readonly [path: string, value: unknown];

const MAX_FIELDS = 200;

/** The fields of a record by their paths, without those that repeat its logger, and what pino adds to each record. */
export function fieldsOf({ fieldsJson, logger }: LogRecord): readonly Field[] {
  if (fieldsJson === "") return [];
  const found: Field[] = [];
  const add = (path: string, value: unknown): void => {
    if (found.length === MAX_FIELDS) return;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const entries = isObject ? Object.entries(value) : [];
    if (entries.length === 0) found.push([path, value]);
    else for (const [key, inner] of entries) add(`${path}.${key}`, inner);
  };
  let fields: object;
  try {
    fields = JSON.parse(fieldsJson);
  } catch {
    // The fields of a record that was cut may end anywhere.
    return [["fields", fieldsJson]];
  }
  for (const [key, value] of Object.entries(fields)) {
    if (key !== "pid" && key !== "hostname" && value !== logger) add(key, value);
  }
  return found;
}

/** A value as the server compares it: a text as it is, everything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

const IDENTIFIER =
  /(^|[._-])(id|uid|key|code|order|customer|user|username|account|session|request|job|tenant|product|sku)$|(Id|ID|Key|Code|Name|Number)$/;

/** Whether a field names a thing, so that other records of the same thing are worth a look. */
export function isIdentifier([path, value]: Field): boolean {
  if (value === "" || value === REDACTED) return false;
  return (typeof value === "string" || Number.isSafeInteger(value)) && IDENTIFIER.test(path);
}

/** Paths of fields that name a user. */
const USERS = /(?:^|\.)(?:username|user|userName|user_name|customer|login|userId|user_id)$|^user\.(?:name|id)$|^sub$/;

/** Whether a field names a user. */
export function isUser([path, value]: Field): boolean {
  return USERS.test(path) && value !== "" && value !== REDACTED && ["string", "number"].includes(typeof value);
}

const LEVEL_NAMES = Object.keys(Level);

/** A record as one line of JSON, as the command line prints it. */
export function jsonOf(record: LogRecord): string {
  const { level, nativeLevel, logger, kind, message, error, traceId, spanId, nodeId, node } = record;
  let fields: unknown;
  try {
    fields = record.fieldsJson === "" ? undefined : JSON.parse(record.fieldsJson);
  } catch {
    fields = { fields: record.fieldsJson };
  }
  return JSON.stringify({
    time: new Date(timeOf(record)).toISOString(),
    level: LEVEL_NAMES[level],
    logger,
    message,
    fields,
    error: error && { type: error.type, message: error.message, stack: error.stack || undefined },
    traceId: traceId || undefined,
    spanId: spanId || undefined,
    ...(node !== "" && { node, nodeId }),
    onlyHere: record.onlyHere || undefined,
    cut: record.cut || undefined,
    nativeLevel,
    kind,
  });
}

const MAX_WORDS = 40;

/** A text of the application as the label of a button. */
export function cut(text: string): string {
  return text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text;
}
