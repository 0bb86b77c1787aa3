import { isRecord } from "../common/record.ts";
import type { RecordContent, WrittenRecord } from "../loggers/adapter.ts";
import { LEVELS } from "../loggers/level.ts";
import type { HandlerNode, LogRecord } from "./record.ts";
import type { Redaction } from "./redaction.ts";

/** The most characters of a record that are shown. */
const MAX_SHOWN = 64 * 1024;
/** A record that is larger is not read at all. */
const MAX_READ = 1024 * 1024;
/** What a record takes besides its text, in characters. */
const OVERHEAD = 256;

/** Reads the records of all rings the same way. */
export interface Reading {
  readonly redaction: Redaction;
  /** The application's own redaction. */
  readonly redact: ((record: LogRecord) => LogRecord | undefined) | undefined;
}

/**
 * A record as it is shown, with its size in characters. Undefined if the application shows nothing of it; "unread" if the library's
 * reading or the application's redaction failed.
 */
export type ReadRecord = { readonly record: LogRecord; readonly size: number } | "unread" | undefined;

/** A record that was written and that some rings take. It is made in the call that wrote it, and read once for all rings. */
export class Entry {
  /** About how much memory it takes, in characters. */
  readonly size: number;
  readonly #logger: string;
  readonly #kind: string;
  readonly #time: number;
  readonly #written: WrittenRecord;
  readonly #node: HandlerNode | undefined;
  /** Undefined until it was read. */
  #shown: { readonly of: ReadRecord } | undefined;

  constructor(logger: string, kind: string, time: number, written: WrittenRecord, node: HandlerNode | undefined) {
    const { size } = written;
    this.size = (size > MAX_READ ? 0 : size) + OVERHEAD;
    this.#logger = logger;
    this.#kind = kind;
    this.#time = time;
    this.#written = size > MAX_READ ? new TooLarge(written) : written;
    this.#node = node;
  }

  /** What is shown of it, the same for every ring. */
  read(reading: Reading): ReadRecord {
    this.#shown ??= { of: this.#read(reading) };
    return this.#shown.of;
  }

  #read(reading: Reading): ReadRecord {
    try {
      return this.#made(reading);
    } catch {
      return "unread";
    }
  }

  #made({ redaction, redact }: Reading): ReadRecord {
    const { verbosity, nativeLevel, hidden } = this.#written;
    const content = this.#written.read();
    const redacting = redaction.begin(MAX_SHOWN);
    const message = redacting.text(content.message);
    const error = content.error && {
      type: redacting.text(content.error.type),
      message: redacting.text(content.error.message),
      ...(content.error.stack !== undefined && { stack: redacting.text(content.error.stack) }),
    };
    const fields = redacting.fields(content.fields);
    const { id, name } = this.#node ?? {};
    const record: LogRecord = {
      sequence: 0,
      time: this.#time,
      logger: this.#logger,
      level: LEVELS[verbosity]!,
      nativeLevel,
      kind: this.#kind,
      message,
      fields,
      error,
      traceId: firstText(fields, TRACE_ID),
      spanId: firstText(fields, SPAN_ID),
      node: id === undefined ? undefined : { id, name: name! },
      onlyHere: hidden,
      cut: redacting.cut || this.#written instanceof TooLarge,
    };
    const shown = redact === undefined ? record : checked(redact(record), record);
    return shown && { record: shown, size: MAX_SHOWN - redacting.room + OVERHEAD };
  }
}

/** Stands for a record that is too large to be read or kept. */
class TooLarge implements WrittenRecord {
  readonly verbosity: number;
  readonly nativeLevel: string;
  readonly hidden: boolean;
  readonly size = 0;

  constructor({ verbosity, nativeLevel, hidden }: WrittenRecord) {
    this.verbosity = verbosity;
    this.nativeLevel = nativeLevel;
    this.hidden = hidden;
  }

  read(): RecordContent {
    return { message: `[a record of more than ${MAX_READ} characters is not shown]`, fields: {} };
  }
}

/**
 * What the application's redaction returned, as data.
 *
 * @throws Error if it cannot be shown
 */
function checked(shown: LogRecord | undefined, record: LogRecord): LogRecord | undefined {
  if (shown === undefined) return undefined;
  const { message, fields, error } = JSON.parse(JSON.stringify(shown)) as LogRecord;
  const { type = "", message: said = "", stack = "" } = error ?? {};
  const isError = error == null || (isRecord(error) && [type, said, stack].every((text) => typeof text === "string"));
  if (typeof message !== "string" || !isRecord(fields) || !isError) throw new Error("logs.redact returned no record");
  return { ...record, message, fields, error: error ?? undefined };
}

/** The names under which OpenTelemetry, the Elastic Common Schema, Datadog and others write them. */
const TRACE_ID = ["trace_id", "traceId", "trace.id", "traceid", "dd.trace_id"];
const SPAN_ID = ["span_id", "spanId", "span.id", "spanid", "dd.span_id"];

function firstText(fields: Readonly<Record<string, unknown>>, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const [first, second] = path.split(".");
    const inner = second === undefined ? undefined : (fields[first!] as Record<string, unknown> | undefined)?.[second];
    const found = fields[path] ?? inner;
    if (typeof found === "string" && found !== "") return found;
  }
  return undefined;
}
