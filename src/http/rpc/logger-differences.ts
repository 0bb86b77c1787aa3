import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { isInReach } from "../../access/caller.ts";
import {
  type ListLoggerDifferencesRequest,
  type ListLoggerDifferencesResponse,
  ListLoggerDifferencesResponseSchema,
} from "../../gen/actuator/v3/fleet_pb.ts";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { reachOf } from "./calls/call-context.ts";
import type { FleetPeers, PeerAnswer } from "./fleet-peers.ts";
import type { LocalClients } from "./local-calls.ts";

const PAGE_SIZE = 10_000;
const MAX_LISTED = 1_000;
/** As many as an instance manages by default. */
const MAX_LOGGERS = 250_000;

type Levels = ReadonlyMap<string, Level>;

/** Lists the loggers whose level is not the same on all instances. */
export async function listLoggerDifferences(
  peers: FleetPeers,
  { selector }: ListLoggerDifferencesRequest,
  context: HandlerContext,
): Promise<ListLoggerDifferencesResponse> {
  const { answers, unread } = await peers.ask(selector, context, levelsOf);
  const reach = reachOf(context);
  const names = [...new Set(answers.flatMap(({ value }) => [...value.keys()]))].sort();
  const differing = names.filter((name) => isInReach([name], reach) && differs(name, answers));
  return create(ListLoggerDifferencesResponseSchema, {
    loggers: differing.slice(0, MAX_LISTED).map((name) => ({ name, levels: sharesOf(name, answers) })),
    instances: answers.length,
    unread: [...unread],
    more: Math.max(0, differing.length - MAX_LISTED),
  });
}

/** The effective levels of all loggers of an instance. */
async function levelsOf(clients: LocalClients, signal: AbortSignal): Promise<Levels> {
  const loggers = clients(LoggersService);
  const levels = new Map<string, Level>();
  for (let pageToken = ""; ; ) {
    const page = await loggers.listLoggers({ pageSize: PAGE_SIZE, pageToken }, { signal });
    for (const { name, effectiveLevel } of page.loggers) levels.set(name, effectiveLevel);
    pageToken = page.nextPageToken;
    if (pageToken === "") return levels;
    if (levels.size > MAX_LOGGERS || page.loggers.length === 0) {
      throw new Error(`it lists more than ${MAX_LOGGERS} loggers, or no end of them`);
    }
  }
}

function differs(name: string, answers: readonly PeerAnswer<Levels>[]): boolean {
  let first: Level | undefined;
  for (const { value } of answers) {
    const level = value.get(name);
    if (level === undefined) continue;
    first ??= level;
    if (level !== first) return true;
  }
  return false;
}

/** Who has which level, the most common level first. */
function sharesOf(name: string, answers: readonly PeerAnswer<Levels>[]): { level: Level; instances: string[] }[] {
  const shares = new Map<Level, string[]>();
  for (const { instance, value } of answers) {
    const level = value.get(name);
    if (level !== undefined) shares.set(level, [...(shares.get(level) ?? []), instance]);
  }
  return [...shares]
    .map(([level, instances]) => ({ level, instances }))
    .sort((one, other) => other.instances.length - one.instances.length);
}
