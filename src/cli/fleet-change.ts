import { printable } from "../common/printable.ts";
import { type FleetLevel, FleetService, type Instance, ResetFleetResponseSchema } from "../gen/actuator/v3/fleet_pb.ts";
import { LoggersService, Scope } from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT, type ExitCode } from "./error.ts";
import { ifAllowed } from "./failure.ts";
import { follow } from "./fleet-follow.ts";
import { lastsText, namedInstances } from "./fleet-status.ts";
import { canAsk, confirmed } from "./input.ts";
import { type SetOptions as LocalSetOptions, setRequest } from "./loggers-change.ts";
import { levelName } from "./loggers-text.ts";
import { serverName } from "./name-filter.ts";
import { countText, note, print } from "./output.ts";

interface ChangeOptions {
  readonly on?: string;
  readonly reason?: string;
  readonly ifGeneration?: bigint;
  readonly json?: boolean;
}

/** The options of `fleet set`. */
type SetOptions = ChangeOptions & Pick<LocalSetOptions, "for" | "forever">;

/** Runs `fleet set`. Returns the exit code. */
export async function setFleetLevel(
  connection: Connection,
  name: string,
  level: Level,
  options: SetOptions,
): Promise<number> {
  const request = { ...setRequest(name, level, options), ...requestFor(name, options) };
  const { generation } = await connection(LoggersService).setLoggerLevel(request);
  return follow(connection, generation, `${shownName(name)} ${level.toLowerCase()}`, options);
}

const ENDS = {
  clear: { method: "clearLoggerLevel", hasEnded: "cleared" },
  restore: { method: "restoreLoggerLevel", hasEnded: "restored" },
} as const;

/**
 * Runs `fleet clear` and `fleet restore`, and says which levels the fleet still has for the name: with `--on`, only those with this very
 * selector end. Returns the exit code.
 */
export async function endFleetLevel(
  connection: Connection,
  word: keyof typeof ENDS,
  name: string,
  options: ChangeOptions,
): Promise<number> {
  const { method, hasEnded } = ENDS[word];
  const { on, json } = options;
  const before = await levelsOf(connection, name);
  const { generation } = await connection(LoggersService)[method](requestFor(name, options));
  // The change is made: if the engine is away now, what follows says so.
  const left = await levelsOf(connection, name).catch(() => undefined);
  const stays = (level: FleetLevel) => left?.some((each) => each.generation === level.generation);
  const hadNone = word === "clear" && before?.every(stays) === true;
  if (hadNone) note(`The fleet had no level for ${shownName(name)}${on === undefined ? "" : ` on ${printable(on)}`}.`);
  const exitCode =
    hadNone && !json ? EXIT.ok : await follow(connection, generation, `${shownName(name)} ${hasEnded}`, options);
  for (const level of left ?? []) {
    const where = printable(level.selector) || "all instances";
    const what = `${levelName(level.level)} on ${where} ${lastsText(level)}`;
    note(`${shownName(name)} still has a level of the fleet: ${what}.`);
  }
  return exitCode;
}

/** The levels that the fleet has for a name; undefined if the caller may not read them. */
async function levelsOf(connection: Connection, name: string): Promise<readonly FleetLevel[] | undefined> {
  const response = await ifAllowed(connection(FleetService).listFleetLevels({}));
  return response?.levels.filter((level) => level.name === serverName(name));
}

const shownName = (name: string) => printable(serverName(name));

/** Runs `fleet reset`. Asks first on a terminal. Returns the exit code: 1 if the answer was no. */
export async function resetFleet(
  connection: Connection,
  { reason = "", json, yes }: Pick<ChangeOptions, "reason" | "json"> & { readonly yes?: boolean },
): Promise<ExitCode> {
  const client = connection(FleetService);
  if (!yes && canAsk()) {
    const { levels } = (await ifAllowed(client.listFleetLevels({}))) ?? {};
    const all = levels === undefined ? "all levels" : `all ${countText(levels.length, "level")}`;
    if (!(await confirmed(`End ${all} of the fleet?`))) {
      note("No level was ended.");
      return EXIT.refused;
    }
  }
  const response = await client.resetFleet({ reason });
  if (json) printJson(ResetFleetResponseSchema, response);
  else print(`${countText(response.ended, "level")} of the fleet ended, generation ${response.generation}`);
  const seen = await ifAllowed(client.listInstances({}));
  if (seen !== undefined) noteFollowers(seen.instances);
  return EXIT.ok;
}

function noteFollowers(instances: readonly Instance[]): void {
  const gone = instances.filter(({ isGone }) => isGone).map(({ id }) => id);
  const there = instances.length - gone.length;
  const back = gone.length === 1 ? "it is back" : "they are back";
  const later = gone.length === 0 ? "" : `, and ${namedInstances(gone)} when ${back}`;
  note(`${countText(there, "instance")} follow${there === 1 ? "s" : ""}${later}.`);
}

function requestFor(name: string, { on = "", reason = "", ifGeneration = 0n }: ChangeOptions) {
  return { name, reason, scope: Scope.FLEET, fleet: { selector: on, ifGeneration } };
}
