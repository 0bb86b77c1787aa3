import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { printable } from "../common/printable.ts";
import {
  type CanaryEnded,
  type CanaryProgress,
  type FleetChange,
  FleetService,
  CanaryEnded_Outcome as Outcome,
  RunCanaryResponseSchema,
} from "../gen/actuator/v3/fleet_pb.ts";
import { Level as LevelProto } from "../gen/actuator/v3/level_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { failureOf } from "./failure.ts";
import { follow, noteKept } from "./fleet-follow.ts";
import { countApplying, namedInstances, noteStatuses, printStatuses } from "./fleet-status.ts";
import { Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import { type SetOptions, setRequest } from "./loggers-change.ts";
import { levelName, reasonText } from "./loggers-text.ts";
import type { GlobalOptions } from "./options.ts";
import { clockText, countText, note, print, shortTimeText } from "./output.ts";

/** The options of `fleet canary`. */
export interface CanaryOptions
  extends Pick<GlobalOptions, "timeout" | "token" | "json">,
    Pick<SetOptions, "reason" | "for" | "forever"> {
  readonly instances: number;
  readonly on?: string;
  /** Milliseconds. */
  readonly promoteAfter?: number;
}

const TAKEN_BACK = "Taken back: each instance is as it was before.";

const ENDS: Readonly<Partial<Record<Outcome, string>>> = {
  [Outcome.PROMOTED]: "Promoted: the level is set for all selected instances.",
  [Outcome.TAKEN_BACK]: TAKEN_BACK,
  [Outcome.FAILED]: "Taken back: not every instance had applied the level in time.",
  [Outcome.OVERRULED]: "Over: another level was set for the fleet.",
};

/** Runs `fleet canary`. Returns the exit code: 0 only if the level was promoted, that of the signal if one arrived. */
export async function runCanary(
  connection: Connection,
  name: string,
  level: Level,
  options: CanaryOptions,
): Promise<number> {
  const { timeout, json, instances, on = "", promoteAfter } = options;
  const request = {
    ...setRequest(name, level, options),
    ...{ instances, selector: on },
    ...(promoteAfter !== undefined && { promoteAfter: durationFromMs(promoteAfter) }),
  };
  const client = connection(FleetService);
  const interruption = new Interruption();
  let progress: CanaryProgress | undefined;
  let ended: CanaryEnded | undefined;
  try {
    const stream = liveStream((call) => client.runCanary(request, call), { timeout, signal: interruption.signal });
    for await (const response of stream) {
      if (json) printJson(RunCanaryResponseSchema, response, "one");
      const { event } = response;
      if (event.case === "ended") ended = event.value;
      if (event.case !== "progress") continue;
      if (!json) showProgress(event.value, progress, options);
      progress = event.value;
    }
  } catch (error) {
    if (interruption.exitCode === undefined || ConnectError.from(error).code !== Code.Canceled) {
      throw isOnTrial(progress) ? takenBackAfter(error, connection, options) : error;
    }
    if (progress?.isPromoted) noteKept(progress.change!.level!.generation, progress.change);
    else note(TAKEN_BACK);
    return interruption.exitCode;
  } finally {
    interruption.close();
  }
  const outcome = ended?.outcome ?? Outcome.UNSPECIFIED;
  if (!json) note(ENDS[outcome] ?? "The canary is over.");
  return outcome === Outcome.PROMOTED ? EXIT.ok : EXIT.refused;
}

const isOnTrial = (progress: CanaryProgress | undefined) => progress !== undefined && !progress.isPromoted;

/** The failure of a call whose canary ends with it, also if the server does not notice at once. */
function takenBackAfter(error: unknown, { address }: Connection, options: CanaryOptions): unknown {
  const failure = error instanceof ConnectError ? failureOf(error, { ...options, url: address.url }) : error;
  if (!(failure instanceof CliError)) return error;
  const what = failure.message.replace(/\.$/, "");
  return new CliError(failure.exitCode, `${what}. The canary is taken back within 30 seconds.`);
}

function showProgress(
  { id, isPromoted, change }: CanaryProgress,
  before: CanaryProgress | undefined,
  { promoteAfter }: CanaryOptions,
): void {
  const statuses = change!;
  if (before === undefined) {
    note(beginningText(statuses));
    const promote = `connect-actuator fleet promote ${printable(id)}. Ctrl-C takes it back.`;
    if (promoteAfter === undefined) note(`To set it on all: ${promote}`);
    else {
      const time = shortTimeText(Date.now() + promoteAfter);
      note(`Promoted at ${time} if it is applied by then. To set it on all now: ${promote}`);
    }
  }
  print(`${clockText()}  ${isPromoted ? "promoted" : "canary"}`);
  printStatuses(statuses);
  if (countApplying(statuses) === 0) noteStatuses(statuses);
}

/** `orders: DEBUG on 1 instance (web-1), "ticket 812"`. */
function beginningText({ level, instances }: FleetChange): string {
  const { name, override, level: tried = LevelProto.UNSPECIFIED } = level ?? {};
  const where = `${countText(instances.length, "instance")} (${namedInstances(instances.map(({ instance }) => instance))})`;
  const why = override?.reason ? `, "${reasonText(override.reason)}"` : "";
  return `${printable(name ?? "")}: ${levelName(tried)} on ${where}${why}`;
}

/** Runs `fleet promote` and `fleet back`. Returns the exit code. */
export async function finishCanary(
  connection: Connection,
  id: string,
  promote: boolean,
  options: { readonly reason?: string; readonly json?: boolean },
): Promise<number> {
  const client = connection(FleetService);
  const { generation } = await client.finishCanary({ id, promote, reason: options.reason ?? "" });
  if (promote) return follow(connection, generation, "promoted", options);
  // The end of a canary is a change like others, and the latest now.
  const latest = await client.listFleetLevels({});
  return follow(connection, latest.generation, "taken back", options);
}
