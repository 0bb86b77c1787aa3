import { sessionDigest } from "../../../sessions/session-id.ts";
import type { SessionPage, SessionQuery } from "../../../sessions/store.ts";
import type { RedisCommands } from "../../kit/redis/client.ts";
import { readSession, type SpringRedis } from "./redis-session.ts";

/** Where a listing stands: the server of a cluster (0 elsewhere), its cursor, and what was taken from there already. */
interface Position {
  readonly server: number;
  readonly cursor: string;
  /** Of the next bucket only sessions of a greater digest are left. */
  readonly past?: string | undefined;
}

const MOST_COUNT = 1_000;
const MOST_SCANS = 20;

/**
 * One page of all sessions, in the order of Redis's own table, which is none. Every session that is there from the first
 * page to the last is in one of them (`SCAN`'s promise), and may be in two. A page may have fewer sessions than asked
 * for, or none, since a server is asked a bounded number of times.
 */
export async function listSessions(redis: SpringRedis, query: SessionQuery): Promise<SessionPage> {
  const { limit, after, active } = query;
  const servers = (await redis.commands.nodes?.()) ?? [redis.commands];
  const ids = new Set<string>();
  let position = after === undefined ? { server: 0, cursor: "0" } : positionOf(after);
  // A scan gives whole buckets, and so a few more than it is asked for.
  let count = Math.ceil(limit * 0.8);
  for (let scans = 0; scans < MOST_SCANS && ids.size <= limit / 2; scans++) {
    const server = servers[position.server];
    if (server === undefined) break;
    const { found, cursor } = await scan(redis, server, position, count);
    const fresh = found.filter((id) => !ids.has(id));
    const room = limit - ids.size;
    if (fresh.length > room) {
      if (ids.size > 0) break;
      if (count > 1) {
        count = Math.floor(count / 2);
        continue;
      }
      const fitting = fresh.sort(byDigest).slice(0, room);
      for (const id of fitting) ids.add(id);
      position = { ...position, past: sessionDigest(fitting.at(-1)!) };
      break;
    }
    for (const id of fresh) ids.add(id);
    position = cursor === "0" ? { server: position.server + 1, cursor } : { server: position.server, cursor };
    if (fresh.length < room / 4) count = Math.min(2 * count, MOST_COUNT);
  }
  const stored = await Promise.all([...ids].map((id) => readSession(redis, id)));
  const sessions = stored.flatMap((each) => (each === undefined ? [] : [each.session]));
  return {
    sessions: active === undefined ? sessions : sessions.filter(({ expired }) => expired !== active),
    partial: false,
    next: position.server < servers.length ? textOf(position) : undefined,
  };
}

async function scan(
  { keys }: SpringRedis,
  server: RedisCommands,
  { cursor: from, past = "" }: Position,
  count: number,
): Promise<{ found: string[]; cursor: string }> {
  const most = past === "" ? count : 1;
  const args = ["SCAN", from, "MATCH", keys.pattern, "COUNT", `${most}`, "TYPE", "hash"];
  const [cursor, found] = (await server.command(args)) as [string, string[]];
  const ids = found.flatMap((key) => keys.idOf(key) ?? []);
  return { cursor: String(cursor), found: past === "" ? ids : ids.filter((id) => sessionDigest(id) > past) };
}

function byDigest(a: string, b: string): number {
  return sessionDigest(a) < sessionDigest(b) ? -1 : 1;
}

function textOf({ server, cursor, past }: Position): string {
  return [server, cursor, ...(past === undefined ? [] : [past])].join(":");
}

function positionOf(text: string): Position {
  const [server, cursor = "0", past] = text.split(":");
  return { server: Number(server), cursor, past };
}
