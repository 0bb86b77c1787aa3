import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import { FleetService, type WatchFleetLogsResponse } from "../gen/actuator/v3/fleet_pb.ts";
import { levelToProto } from "../http/rpc/logger-proto.ts";
import type { Level } from "../loggers/level.ts";
import type { Connection } from "./connection.ts";
import { EXIT } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import { recordFormat, timedTexts } from "./log-record-text.ts";
import { droppedText } from "./loggers-tail.ts";
import type { GlobalOptions } from "./options.ts";
import { countText, note, whenReaderLeaves } from "./output.ts";
import { RecordMerge } from "./record-output.ts";

/** The options of `fleet tail`. */
export interface FleetTailOptions extends Pick<GlobalOptions, "timeout" | "json"> {
  readonly on?: string;
  readonly level?: Level;
  readonly raise?: Level;
  /** Milliseconds. */
  readonly for?: number;
  readonly reason?: string;
  readonly grep?: string;
  readonly pretty?: boolean;
}

/** Runs `fleet tail`: shows what loggers write on all instances until a signal arrives, or the time is over. */
export async function tailFleet(
  connection: Connection,
  names: readonly string[],
  options: FleetTailOptions,
): Promise<number> {
  const { on = "", level, raise, reason = "", grep = "", timeout } = options;
  const interruption = new Interruption();
  const left = new AbortController();
  whenReaderLeaves(() => left.abort());
  const time = options.for === undefined ? [] : [AbortSignal.timeout(options.for)];
  const end = AbortSignal.any([interruption.signal, left.signal, ...time]);
  const merge = new RecordMerge(end);
  const format = recordFormat(options);
  const request = {
    selector: on,
    logs: {
      names: [...names],
      level: levelToProto(level),
      contains: grep,
      ...(raise !== undefined && {
        raise: {
          level: levelToProto(raise),
          reason,
          ...(options.for !== undefined && { ttl: durationFromMs(options.for) }),
        },
      }),
    },
  };

  async function take({ instance, event }: WatchFleetLogsResponse): Promise<void> {
    if (event.case === "unread") {
      note(`${printable(instance)} does not answer, and is asked again: ${printable(event.value.reason)}`);
    }
    if (event.case !== "logs") return;
    const { event: said } = event.value;
    if (said.case === "records") {
      await merge.add(timedTexts(said.value.records, format, instance));
    } else if (said.case === "started") {
      note(`${printable(instance)}: showing what ${countText(said.value.loggers, "logger")} write.`);
    } else if (said.case === "dropped") note(`${printable(instance)}: ${droppedText(said.value)}`);
    else if (said.case === "raiseEnded") note(`Raising to ${raise} has ended: its time is over, or another was set.`);
  }

  try {
    const events = liveStream((how) => connection(FleetService).watchFleetLogs(request, how), { timeout, signal: end });
    for await (const response of events) await take(response);
  } catch (error) {
    if (!end.aborted) throw error;
  } finally {
    await merge.close();
    merge.stop();
    interruption.close();
  }
  return interruption.exitCode ?? EXIT.ok;
}
