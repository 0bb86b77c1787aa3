import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { printable } from "../common/printable.ts";
import {
  type CanaryEnded,
  FinishCanaryResponseSchema,
  FleetService,
  CanaryEnded_Outcome as Outcome,
  RunCanaryResponseSchema,
} from "../gen/actuator/v3/fleet_pb.ts";
import { Level as LevelProto } from "../gen/actuator/v3/level_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT } from "./error.ts";
import { printStatuses } from "./fleet-status.ts";
import { Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import type { GlobalOptions } from "./options.ts";
import { clockText, note, print } from "./output.ts";

/** The options of `fleet canary`. */
export interface CanaryOptions extends Pick<GlobalOptions, "timeout"> {
  readonly instances: number;
  readonly on?: string;
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
  readonly forever?: boolean;
  /** Milliseconds. */
  readonly promoteAfter?: number;
  readonly json?: boolean;
}

const TAKEN_BACK = "Taken back: each instance is as it was before.";

const ENDS: Readonly<Partial<Record<Outcome, string>>> = {
  [Outcome.PROMOTED]: "Promoted: every instance has the level.",
  [Outcome.TAKEN_BACK]: TAKEN_BACK,
  [Outcome.FAILED]: "Taken back: not every instance had applied the level in time.",
  [Outcome.OVERRULED]: "Over: another level was set for the fleet.",
};

/** Runs `fleet canary`. Returns the exit code: 0 only if the level was promoted, that of the signal if one arrived. */
export async function runCanary(
  connection: Connection,
  name: string,
  level: Level,
  { timeout, json, instances, on = "", reason = "", ...options }: CanaryOptions,
): Promise<number> {
  const ttl = options.forever ? 0 : options.for;
  const request = {
    ...{ name, level: LevelProto[level], instances, selector: on, reason },
    ...(ttl !== undefined && { ttl: durationFromMs(ttl) }),
    ...(options.promoteAfter !== undefined && { promoteAfter: durationFromMs(options.promoteAfter) }),
  };
  const client = connection(FleetService);
  const interruption = new Interruption();
  let id = "";
  let ended: CanaryEnded | undefined;
  try {
    const stream = liveStream((call) => client.runCanary(request, call), { timeout, signal: interruption.signal });
    for await (const event of stream) {
      if (json) printJson(RunCanaryResponseSchema, event, "one");
      if (event.event.case === "ended") ended = event.event.value;
      if (event.event.case !== "progress" || json) continue;
      const { id: begun, isPromoted, change } = event.event.value;
      if (id === "")
        note(`To set it on all: connect-actuator fleet promote ${printable(begun)}. Ctrl-C takes it back.`);
      id = begun;
      print(`${clockText()}  ${isPromoted ? "promoted" : "canary"}`);
      printStatuses(change!);
    }
  } catch (error) {
    if (interruption.exitCode === undefined || ConnectError.from(error).code !== Code.Canceled) throw error;
    note(TAKEN_BACK);
    return interruption.exitCode;
  } finally {
    interruption.close();
  }
  const outcome = ended?.outcome ?? Outcome.UNSPECIFIED;
  if (!json) note(ENDS[outcome] ?? "The canary is over.");
  return outcome === Outcome.PROMOTED ? EXIT.ok : EXIT.refused;
}

/** Runs `fleet promote` and `fleet back`. */
export async function finishCanary(
  connection: Connection,
  id: string,
  promote: boolean,
  { reason = "", json }: { readonly reason?: string; readonly json?: boolean },
): Promise<void> {
  const response = await connection(FleetService).finishCanary({ id, promote, reason });
  if (json) printJson(FinishCanaryResponseSchema, response);
  else print(promote ? `promoted, generation ${response.generation}` : "taken back");
}
