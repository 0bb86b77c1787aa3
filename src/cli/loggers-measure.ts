import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import { Level } from "../gen/actuator/v3/level_pb.ts";
import {
  type LevelCalls,
  LoggersService,
  type MeasureLoggersResponse,
  MeasureLoggersResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { LiveArea } from "./live-area.ts";
import { liveStream } from "./live-stream.ts";
import type { GlobalOptions } from "./options.ts";
import { countText, note, print, styled, terminalWidth } from "./output.ts";

const DEFAULT_DURATION_MS = 10_000;

/** The options of `loggers measure`. */
export interface MeasureOptions extends Pick<GlobalOptions, "timeout" | "json"> {
  /** Milliseconds. */
  readonly for?: number;
}

/**
 * Runs `loggers measure`: shows how often loggers are called until the time is over or a signal arrives. Returns the exit code: that of the
 * signal, or 0.
 */
export async function measureLoggers(
  connection: Connection,
  prefix: string,
  { for: duration = DEFAULT_DURATION_MS, timeout, json }: MeasureOptions,
): Promise<number> {
  const client = connection(LoggersService);
  const interruption = new Interruption();
  const area = new LiveArea();
  let report: MeasureLoggersResponse | undefined;
  try {
    const request = { namePrefix: prefix, duration: durationFromMs(duration) };
    const stream = liveStream((call) => client.measureLoggers(request, call), {
      timeout,
      signal: interruption.signal,
    });
    for await (const each of stream) {
      report = each;
      if (!each.last && !json) area.show(measuredLines(each, area.height), progressText(each, duration));
    }
  } catch (error) {
    area.clear();
    if (!interruption.signal.aborted) throw error;
  } finally {
    interruption.close();
  }
  area.clear();
  if (report !== undefined && json) printJson(MeasureLoggersResponseSchema, report);
  else if (report !== undefined) printReport(report);
  return interruption.exitCode ?? EXIT.ok;
}

function printReport(report: MeasureLoggersResponse): void {
  const { loggers, elapsed, more, unmeasuredKinds } = report;
  if (loggers.length > 0) for (const line of measuredLines(report)) print(line);
  const time = durationToText(elapsedMs(elapsed));
  note(loggers.length > 0 ? `Lines a second, counted for ${time}.` : `No logger was called within ${time}.`);
  if (more) note(`Only the ${countText(loggers.length, "logger")} with the most calls are listed; TOTAL has them all.`);
  if (unmeasuredKinds.length > 0) note(`Not measured: ${unmeasuredKinds.map(printable).join(", ")}.`);
}

function progressText({ elapsed }: MeasureLoggersResponse, duration: number): string {
  const seconds = Math.round(elapsedMs(elapsed) / 1_000);
  return styled("dim", `${seconds}s of ${durationToText(duration)}; Ctrl-C ends it`);
}

const elapsedMs = (elapsed: MeasureLoggersResponse["elapsed"]) => (elapsed === undefined ? 0 : durationMs(elapsed));

/** The calls of the loggers that are let through or not, by severity. */
interface Calls {
  readonly name: string;
  readonly levels: readonly LevelCalls[];
}

/** The columns after the name: how many lines or calls they count. */
const COLUMNS: readonly (readonly [title: string, count: (calls: Calls) => number])[] = [
  ["ERROR", ({ levels }) => sum(levels, callsAt(Level.ERROR, Level.FATAL))],
  ["WARN", ({ levels }) => sum(levels, callsAt(Level.WARN))],
  ["INFO", ({ levels }) => sum(levels, callsAt(Level.INFO))],
  ["DEBUG", ({ levels }) => sum(levels, callsAt(Level.DEBUG))],
  ["TRACE", ({ levels }) => sum(levels, callsAt(Level.TRACE))],
  ["WRITTEN", ({ levels }) => sum(levels, ({ emitted }) => Number(emitted))],
  ["+DEBUG", ({ levels }) => sum(levels, (calls) => (calls.level === Level.TRACE ? 0 : Number(calls.suppressed)))],
  ["+TRACE", ({ levels }) => sum(levels, ({ suppressed }) => Number(suppressed))],
];

const callsAt =
  (...wanted: readonly Level[]) =>
  ({ level, emitted, suppressed }: LevelCalls) =>
    wanted.includes(level) ? Number(emitted + suppressed) : 0;

function sum(levels: readonly LevelCalls[], count: (calls: LevelCalls) => number): number {
  return levels.reduce((total, calls) => total + count(calls), 0);
}

/** How narrow the column of names may become. */
const MIN_NAME_WIDTH = 12;

/** The table, as wide as the terminal, with at most so many lines. */
function measuredLines({ loggers, total, elapsed }: MeasureLoggersResponse, maxLines = Infinity): string[] {
  const seconds = elapsedMs(elapsed) / 1_000;
  const listed = loggers.slice(0, Math.max(1, maxLines - 2));
  const rows = [...listed, { name: "TOTAL", levels: total }].map((calls) => ({
    name: printable(calls.name),
    cells: COLUMNS.map(([, count]) => rateText(count(calls), seconds)),
  }));
  const widths = COLUMNS.map(([title], at) => Math.max(title.length, ...rows.map(({ cells }) => cells[at]!.length)));
  const room = terminalWidth() - widths.reduce((all, each) => all + each + 2, 0);
  const longest = Math.max("LOGGER".length, ...rows.map(({ name }) => name.length));
  const nameWidth = Math.max(MIN_NAME_WIDTH, Math.min(longest, room));
  const line = (name: string, cells: readonly string[]) =>
    [endOf(name, nameWidth).padEnd(nameWidth), ...cells.map((cell, at) => cell.padStart(widths[at]!))].join("  ");
  const titles = styled(
    "bold",
    line(
      "LOGGER",
      COLUMNS.map(([title]) => title),
    ),
  );
  return [titles, ...rows.map(({ name, cells }) => line(name, cells))];
}

/** `-` for none, `0.3`, `27`, `1,234`, `120k`. */
function rateText(count: number, seconds: number): string {
  if (count === 0 || seconds === 0) return "-";
  const rate = count / seconds;
  if (rate < 10) return rate < 0.05 ? "<0.1" : rate.toFixed(1);
  if (rate < 10_000) return Math.round(rate).toLocaleString("en");
  return rate < 1e6 ? `${Math.round(rate / 1e3)}k` : `${(rate / 1e6).toFixed(1)}M`;
}

/** The end of a name says more than its beginning. */
function endOf(name: string, width: number): string {
  return name.length <= width ? name : `…${name.slice(name.length - width + 1)}`;
}
