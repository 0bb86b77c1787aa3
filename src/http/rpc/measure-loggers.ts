import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { isInReach } from "../../access/caller.ts";
import {
  LevelCallsSchema,
  LoggerCallsSchema,
  type MeasureLoggersRequest,
  type MeasureLoggersResponse,
  MeasureLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { CallTally } from "../../loggers/adapter.ts";
import { LEVELS } from "../../loggers/level.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import type { CallReport, LoggerCalls, Measurement } from "../../loggers/measurement.ts";
import type { Reach } from "../visible-loggers.ts";
import { levelToProto } from "./logger-proto.ts";
import { stringWireBytes, takePage } from "./page.ts";
import type { ServiceLimits } from "./streams.ts";
import { liveEvents } from "./streams.ts";

/** The interval of reports, unless that of heartbeats is shorter. */
const REPORT_MS = 1_000;
/** Tags, lengths, a level and two counts. */
const LEVEL_BYTES = 26;
const LOGGER_BYTES = LEVELS.length * LEVEL_BYTES + 6;
/** What a response has beside its loggers: the total, times and names of libraries. */
const FRAME_BYTES = 4_096;

/**
 * Measures while the stream is open, for the requested time at most: begins when the first report is requested, and ends when the stream
 * ends or the time is over, even if the client is not reading then.
 */
export function measureLoggers(
  loggers: Loggers,
  request: MeasureLoggersRequest,
  { maxBytes, heartbeatMs }: ServiceLimits,
  reach: Reach,
): AsyncIterableIterator<MeasureLoggersResponse, undefined> {
  let measurement: Measurement;
  let next: "first" | "last" | "end" = "first";
  const tell = () => reportToProto(measurement.report(), maxBytes, reach);

  return liveEvents(
    {
      open(wake) {
        const { namePrefix, duration } = request;
        measurement = loggers.measure({ namePrefix, durationMs: duration && durationMs(duration) });
        measurement.onEnd(wake);
      },
      take() {
        if (next === "end") return "end";
        if (measurement.ended) next = "end";
        else if (next === "last") return undefined;
        else next = "last";
        return tell();
      },
      heartbeat: tell,
      close: () => measurement.end(),
    },
    Math.min(heartbeatMs, REPORT_MS),
  );
}

function reportToProto(report: CallReport, maxBytes: number, reach: Reach): MeasureLoggersResponse {
  const { elapsedMs: elapsed, ended, more, unmeasuredKinds } = report;
  const loggers = report.loggers.filter(({ name }) => isInReach([name], reach));
  const total = reach === undefined ? report.total : totalOf(loggers);
  const limits = { size: loggers.length, bytes: maxBytes - FRAME_BYTES };
  const page = takePage(loggers, limits, ({ name }) => stringWireBytes(name) + LOGGER_BYTES);
  return create(MeasureLoggersResponseSchema, {
    loggers: page.elements.map(callsToProto),
    total: levelsToProto(total),
    elapsed: durationFromMs(Math.round(elapsed)),
    last: ended,
    more: more || page.more,
    unmeasuredKinds: [...unmeasuredKinds],
  });
}

function totalOf(tallies: readonly CallTally[]): CallTally {
  const sum = (kind: "emitted" | "suppressed") =>
    LEVELS.map((_, at) => tallies.reduce((total, tally) => total + tally[kind][at]!, 0));
  return { emitted: sum("emitted"), suppressed: sum("suppressed") };
}

function callsToProto(calls: LoggerCalls) {
  return create(LoggerCallsSchema, { name: calls.name, levels: levelsToProto(calls) });
}

function levelsToProto({ emitted, suppressed }: CallTally) {
  return LEVELS.map((level, index) =>
    create(LevelCallsSchema, {
      level: levelToProto(level),
      emitted: BigInt(emitted[index]!),
      suppressed: BigInt(suppressed[index]!),
    }),
  ).filter(({ emitted, suppressed }) => emitted + suppressed > 0n);
}
