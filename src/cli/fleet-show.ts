import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import {
  type FleetLevel,
  FleetService,
  GetFleetChangeResponseSchema,
  type Instance,
  ListFleetLevelsResponseSchema,
  ListInstancesResponseSchema,
} from "../gen/actuator/v3/fleet_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import type { ExitCode } from "./error.ts";
import { exitCodeOf, noteStatuses, printStatuses } from "./fleet-status.ts";
import { levelColour, levelName, reasonText } from "./loggers-text.ts";
import { countText, note, print, shortTimeText, tableLines } from "./output.ts";

interface ShowOptions {
  readonly on?: string;
  readonly json?: boolean;
}

/** A change that has been waiting for less is on its way. */
const MIN_LAG_MS = 1_000;

/** Runs `fleet list`. */
export async function listInstances(connection: Connection, { on = "", json }: ShowOptions): Promise<void> {
  const response = await connection(FleetService).listInstances({ selector: on });
  if (json) return printJson(ListInstancesResponseSchema, response);
  const { name, engine, instances } = response;
  const titles = ["INSTANCE", "APPLICATION", "VERSION", "LABELS", "STARTED", "STATE"];
  const look = { cut: ["APPLICATION", "LABELS", "VERSION"] };
  if (instances.length > 0) for (const line of tableLines(titles, instances.map(instanceRow), look)) print(line);
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
  const lagMs = lag === undefined ? 0 : durationMs(lag);
  const late = lagMs < MIN_LAG_MS ? "up to date" : `${durationToText(lagMs)} behind`;
  return isSelf ? `${late}, answered` : late;
}

/** Runs `fleet levels`. */
export async function listFleetLevels(connection: Connection, { json }: ShowOptions): Promise<void> {
  const response = await connection(FleetService).listFleetLevels({});
  if (json) return printJson(ListFleetLevelsResponseSchema, response);
  if (response.levels.length === 0) return note("The fleet has no levels.");
  const rows = response.levels.map(({ name, level, selector, generation, ...set }) => {
    const { actor = "", reason = "" } = set.override ?? {};
    const on = selector || "all";
    return [name, levelName(level) ?? "", on, actor, reasonText(reason), `${generation}`, endOf(set)].map(printable);
  });
  const look = { cut: ["REASON", "BY", "ON"], colours: { LEVEL: levelColour } };
  for (const line of tableLines(["NAME", "LEVEL", "ON", "BY", "REASON", "GENERATION", "UNTIL"], rows, look))
    print(line);
}

function endOf({ canaryId, override }: Pick<FleetLevel, "canaryId" | "override">): string {
  if (canaryId !== "") return `canary ${canaryId}`;
  if (override?.held) return "released";
  return override?.expireTime === undefined ? "permanent" : shortTimeText(timestampMs(override.expireTime));
}

/** Runs `fleet status`. */
export async function showChange(connection: Connection, generation: bigint, { json }: ShowOptions): Promise<ExitCode> {
  const response = await connection(FleetService).getFleetChange({ generation });
  if (json) printJson(GetFleetChangeResponseSchema, response);
  else printStatuses(response.change!);
  noteStatuses(response.change!);
  return exitCodeOf(response.change!);
}
