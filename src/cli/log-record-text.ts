import { timestampMs } from "@bufbuild/protobuf/wkt";
import { printable, printableJson } from "../common/printable.ts";
import type { LogError, LogRecord } from "../gen/actuator/v3/logs_pb.ts";
import { levelName, levelText } from "./loggers-text.ts";
import { styled, timeText } from "./output.ts";
import type { TimedText } from "./record-output.ts";

/** Formats a record, of an instance if there are several, as the text that is written for it. */
export type RecordFormat = (record: LogRecord, instance: string | undefined) => string;

/** What continues a record is indented, so that text of the application cannot look like a record of its own. */
const INDENT = "    ";
const INNER_INDENT = `${INDENT}  `;

/** How records are printed: as text on a terminal or if that is asked for, otherwise as JSON. */
export function recordFormat({ json, pretty }: { readonly json?: boolean; readonly pretty?: boolean }): RecordFormat {
  return !json && (pretty || process.stdout.isTTY) ? recordText : recordJson;
}

/** The texts of records, each with its time. */
export function timedTexts(
  records: readonly LogRecord[],
  format: RecordFormat,
  instance: string | undefined,
): readonly TimedText[] {
  return records.map((record) => {
    return { time: record.time === undefined ? 0 : timestampMs(record.time), text: format(record, instance) };
  });
}

/** For readers: a line with time, level, logger and message, then a line for each field, and the error with its stack. */
export const recordText: RecordFormat = (record, instance) => {
  const { logger, level, message, node, error, traceId, spanId, cut } = record;
  const [first, ...more] = linesOf(message);
  const head = [
    ...(instance === undefined ? [] : [styled("dim", printable(instance))]),
    styled("dim", clockOf(record)),
    levelText(level, "?", 5),
    `${styled("bold", printable(logger))}:`,
    first,
    ...(node === "" ? [] : [styled("cyan", `→ ${printable(node)}`)]),
  ];
  // Libraries repeat the name of the logger in a field, and pino the process in every record.
  const fields = Object.entries(fieldsOf(record)).filter(
    ([key, value]) => value !== logger && key !== "pid" && key !== "hostname",
  );
  const trace = [traceId, spanId].filter((id) => id !== "" && !fields.some(([, value]) => value === id));
  return [
    head.join(" ").trimEnd(),
    ...more.map((line) => INDENT + line),
    ...fields.map(([key, value]) => fieldText(key, value)),
    ...(trace.length === 0 ? [] : [fieldText("trace", trace.map(printable).join(" "))]),
    ...(error === undefined ? [] : errorLines(error)),
    ...(cut ? [`${INDENT}${styled("dim", "(cut: it was longer than 64 KiB)")}`] : []),
    "",
  ].join("\n");
};

/** For programs: one object on one line. */
export const recordJson: RecordFormat = (record, instance) => {
  const { time, level, nativeLevel, logger, kind, message, error, traceId, spanId, nodeId, node, onlyHere, cut } =
    record;
  const fields = fieldsOf(record);
  const object = {
    ...(instance !== undefined && { instance }),
    time: time === undefined ? undefined : new Date(timestampMs(time)).toISOString(),
    level: levelName(level),
    logger,
    message,
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(error !== undefined && {
      error: { type: error.type, message: error.message, stack: error.stack || undefined },
    }),
    ...(traceId !== "" && { traceId }),
    ...(spanId !== "" && { spanId }),
    ...(node !== "" && { node, nodeId }),
    ...(onlyHere && { onlyHere }),
    ...(cut && { cut }),
    nativeLevel,
    kind,
  };
  return `${printableJson(object)}\n`;
};

/** `14:32:10.123`, in the local time zone. */
function clockOf({ time }: LogRecord): string {
  if (time === undefined) return "?";
  const milliseconds = timestampMs(time);
  return `${timeText(milliseconds).slice(-8)}.${String(milliseconds % 1_000).padStart(3, "0")}`;
}

function fieldsOf({ fieldsJson }: LogRecord): Record<string, unknown> {
  if (fieldsJson === "") return {};
  try {
    return JSON.parse(fieldsJson);
  } catch {
    return { fields: fieldsJson };
  }
}

function fieldText(key: string, value: unknown): string {
  const text = typeof value === "string" ? linesOf(value).join(`\n${INNER_INDENT}`) : printableJson(value);
  return `${INDENT}${styled("magenta", printable(key))}: ${text}`;
}

function errorLines({ type, message, stack }: LogError): string[] {
  const title = `${type || "Error"}: ${message}`;
  const lines = stack.includes(message) && stack !== "" ? linesOf(stack) : [...linesOf(title), ...linesOf(stack)];
  const [first = "", ...more] = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
  return [`${INDENT}${styled("red", first)}`, ...more.map((line) => `${INDENT}${line}`)];
}

/** The lines of a text, with visible control characters. */
function linesOf(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.split("\t").map(printable).join("\t"));
}
