import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import {
  type FleetChange,
  FleetService,
  GetFleetChangeResponseSchema,
  type Instance,
  ListFleetLevelsResponseSchema,
  ListInstancesResponseSchema,
  InstanceStatus_Status as Status,
} from "../gen/actuator/v3/fleet_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT } from "./error.ts";
import { levelName } from "./loggers-text.ts";
import { countText, note, print, shortTimeText, tableLines } from "./output.ts";

interface ShowOptions {
  readonly on?: string;
  readonly json?: boolean;
}

/** Runs `fleet list`. */
export async function listInstances(connection: Connection, { on = "", json }: ShowOptions): Promise<void> {
  const response = await connection(FleetService).listInstances({ selector: on });
  if (json) return printJson(ListInstancesResponseSchema, response);
  const { name, engine, instances } = response;
  const titles = ["INSTANCE", "APPLICATION", "VERSION", "LABELS", "STARTED", "STATE"];
  if (instances.length > 0) for (const line of tableLines(titles, instances.map(instanceRow))) print(line);
  note(`${countText(instances.length, "instance")} of the fleet ${printable(name)}, kept by ${engine?.kind}.`);
  if (engine?.notice) note(printable(engine.notice));
}

function instanceRow({ id, application, version, labels, startTime, ...instance }: Instance): string[] {
  const all = Object.entries(labels).map(([key, value]) => (value === "true" ? key : `${key}=${value}`));
  const started = startTime === undefined ? "" : shortTimeText(timestampMs(startTime));
  return [id, application, version, all.sort().join(","), started, stateOf(instance)].map(printable);
}

function stateOf({ isGone, isSelf, lag }: Pick<Instance, "isGone" | "isSelf" | "lag">): string {
  if (isGone) return "gone";
  const late = lag === undefined ? "up to date" : `${durationToText(durationMs(lag))} behind`;
  return isSelf ? `${late}, answered` : late;
}

/** Runs `fleet levels`. */
export async function listFleetLevels(connection: Connection, { json }: ShowOptions): Promise<void> {
  const response = await connection(FleetService).listFleetLevels({});
  if (json) return printJson(ListFleetLevelsResponseSchema, response);
  if (response.levels.length === 0) return note("The fleet has no levels.");
  const rows = response.levels.map(({ name, level, selector, override, generation }) => {
    const { expireTime, actor = "", reason = "" } = override ?? {};
    const until = override?.held ? "released" : expireTime === undefined ? "" : shortTimeText(timestampMs(expireTime));
    return [name, levelName(level) ?? "", selector || "all", until, actor, reason, `${generation}`].map(printable);
  });
  for (const line of tableLines(["NAME", "LEVEL", "ON", "UNTIL", "BY", "REASON", "GENERATION"], rows)) print(line);
}

/** Runs `fleet status`. */
export async function showChange(connection: Connection, generation: bigint, { json }: ShowOptions): Promise<number> {
  const response = await connection(FleetService).getFleetChange({ generation });
  if (json) printJson(GetFleetChangeResponseSchema, response);
  else printStatuses(response.change!);
  return exitCodeOf(response.change!);
}

const STATUSES: Readonly<Record<Status, string>> = {
  [Status.UNSPECIFIED]: "?",
  [Status.APPLYING]: "APPLYING",
  [Status.APPLIED]: "APPLIED",
  [Status.FAILED]: "FAILED",
  [Status.OVERRULED]: "OVERRULED",
  [Status.GONE]: "GONE",
};

/** Prints how far a change has come, a line for each instance. */
export function printStatuses({ instances }: FleetChange): void {
  if (instances.length === 0) {
    note("No instance matches now; later ones get the level.");
    return;
  }
  const rows = instances.map(({ instance, status, reason, overruledBy }) => {
    const by = status === Status.OVERRULED ? `changed there by ${overruledBy || "the application"}` : reason;
    return [instance, STATUSES[status]!, by].map(printable);
  });
  for (const line of tableLines(["INSTANCE", "STATUS", ""], rows)) print(line);
}

/** 1 if an instance that is there did not apply the change. */
export function exitCodeOf({ instances }: FleetChange): number {
  const isDone = instances.every(({ status }) => status === Status.APPLIED || status === Status.GONE);
  return isDone ? EXIT.ok : EXIT.refused;
}
