import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import {
  FleetService,
  GetFleetGraphResponseSchema,
  ListLoggerDifferencesResponseSchema,
  type UnreadInstance,
} from "../gen/actuator/v3/fleet_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT, type ExitCode } from "./error.ts";
import { namedInstances } from "./fleet-status.ts";
import { type GraphOptions, printGraph } from "./graph-show.ts";
import { ShownGraph } from "./graph-watch.ts";
import { liveStream } from "./live-stream.ts";
import { levelColour, levelName } from "./loggers-text.ts";
import type { GlobalOptions } from "./options.ts";
import { countText, note, print, tableLines } from "./output.ts";

interface AskOptions {
  readonly on?: string;
  readonly json?: boolean;
}

/** Runs `fleet differences`. */
export async function showDifferences(connection: Connection, { on = "", json }: AskOptions): Promise<ExitCode> {
  const response = await connection(FleetService).listLoggerDifferences({ selector: on });
  const { loggers, instances, unread, more } = response;
  if (json) printJson(ListLoggerDifferencesResponseSchema, response);
  else {
    const rows = loggers.flatMap(({ name, levels }) =>
      levels.map(({ level, instances: ids }, at) => {
        return [at === 0 ? printable(name) : "", levelName(level) ?? "", namedInstances(ids)];
      }),
    );
    const look = { cut: ["ON"], colours: { LEVEL: levelColour } };
    if (rows.length > 0) for (const line of tableLines(["NAME", "LEVEL", "ON"], rows, look)) print(line);
    const differ = loggers.length + more;
    const what =
      differ === 0 ? "No logger differs" : `${countText(differ, "logger")} ${differ === 1 ? "differs" : "differ"}`;
    note(`${what} between ${countText(instances, "instance")}.`);
    if (more > 0) note(`${more} of them are not shown.`);
  }
  return noteUnread(unread);
}

/** Runs `fleet graph`. */
export async function showFleetGraph(
  connection: Connection,
  { on = "", json, format, output }: GraphOptions & AskOptions,
): Promise<ExitCode> {
  const response = await connection(FleetService).getFleetGraph({ selector: on });
  if (json) printJson(GetFleetGraphResponseSchema, response);
  else await printGraph(response.graph!, { format, ...(output !== undefined && { output }) });
  return noteUnread(response.unread);
}

/** Runs `fleet graph --watch`: shows the graph of all, then every change of it, until the command is ended. */
export async function watchFleetGraph(
  connection: Connection,
  { on = "", json = false, interval, timeout }: AskOptions & Pick<GlobalOptions, "timeout"> & { interval?: number },
): Promise<void> {
  const request = { selector: on, ...(interval !== undefined && { interval: durationFromMs(interval) }) };
  const shown = new ShownGraph(json);
  for await (const { event } of liveStream((how) => connection(FleetService).watchFleetGraph(request, how), {
    timeout,
  })) {
    if (event.case === "graph") shown.apply(event.value);
    else if (event.case === "instances") {
      note(`The graph of ${countText(event.value.count, "instance")}.`);
      noteUnread(event.value.unread);
    }
  }
}

function noteUnread(unread: readonly UnreadInstance[]): ExitCode {
  for (const { instance, reason } of unread) note(`${printable(instance)} did not answer: ${printable(reason)}`);
  return unread.length === 0 ? EXIT.ok : EXIT.refused;
}
