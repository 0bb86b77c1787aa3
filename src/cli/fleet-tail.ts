import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import { FleetService, type WatchFleetLogsResponse } from "../gen/actuator/v3/fleet_pb.ts";
import { levelToProto } from "../http/rpc/logger-proto.ts";
import type { Connection } from "./connection.ts";
import { EXIT } from "./error.ts";
import { ifAllowed } from "./failure.ts";
import { FollowedInstances } from "./fleet-instances.ts";
import { FleetRaise } from "./fleet-raise.ts";
import { endOf, Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import { recordFormat, timedTexts } from "./log-record-text.ts";
import { tailFailure } from "./log-stream.ts";
import { droppedText, raiseEndText, type TailOptions } from "./loggers-tail.ts";
import { note } from "./output.ts";
import { RecordMerge } from "./record-output.ts";

/** The options of `fleet tail`. */
export interface FleetTailOptions extends Omit<TailOptions, "onlyHere" | "recent" | "maxRate"> {
  readonly on?: string;
}

/** Runs `fleet tail`: shows what loggers write on all instances until a signal arrives, or the time is over. */
export async function tailFleet(
  connection: Connection,
  names: readonly string[],
  options: FleetTailOptions,
): Promise<number> {
  const { on = "", raise, timeout } = options;
  const interruption = new Interruption();
  const end = endOf(interruption, options.for);
  const merge = new RecordMerge(end);
  const format = recordFormat(options);
  const client = connection(FleetService);
  let instances: FollowedInstances;
  let raised: FleetRaise | undefined;

  async function take({ instance, event }: WatchFleetLogsResponse): Promise<void> {
    if (event.case === "unread") instances.miss(instance, event.value.reason);
    if (event.case !== "logs") return;
    const { event: said } = event.value;
    if (said.case === "records") await merge.add(timedTexts(said.value.records, format, instance));
    else if (said.case === "started") instances.start(instance, said.value);
    else if (said.case === "dropped") note(`${printable(instance)}: ${droppedText(said.value)}`);
    else if (said.case === "raiseEnded") {
      raised?.end();
      note(raiseEndText(raise, said.value.reason));
    }
  }

  try {
    const seen = await ifAllowed(client.listInstances({ selector: on }, { signal: end }));
    instances = new FollowedInstances(seen?.instances, on);
    if (raise !== undefined) raised = await FleetRaise.expected(client, names, raise, end);
    const request = { selector: on, logs: logsRequest(names, options) };
    const events = liveStream((how) => client.watchFleetLogs(request, how), { timeout, signal: end });
    raised?.sayRaised(options.for);
    for await (const response of events) await take(response);
  } catch (error) {
    if (!end.aborted) throw tailFailure(error, { connection, options });
  } finally {
    await merge.close();
    merge.stop();
    await raised?.sayRestored();
    interruption.close();
  }
  return interruption.exitCode ?? EXIT.ok;
}

function logsRequest(names: readonly string[], options: FleetTailOptions) {
  const { level, raise, reason = "", grep = "", field = {} } = options;
  const ttl = options.for === undefined ? {} : { ttl: durationFromMs(options.for) };
  return {
    ...{ names: [...names], level: levelToProto(level), contains: grep, fields: { ...field } },
    ...(raise !== undefined && { raise: { level: levelToProto(raise), reason, ...ttl } }),
  };
}
