import { setTimeout as delay } from "node:timers/promises";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { EndedMarks } from "./ended-marks.ts";
import type { RedisCommands } from "./index.ts";
import { IndexClaim } from "./index-claim.ts";
import { scoresOf } from "./keys.ts";

/** What is kept of a session beyond its store. Times are milliseconds since the epoch. */
export interface IndexRecord {
  readonly id: string;
  readonly creationTime: number | undefined;
  readonly firstSeenTime: number;
}

/** A session as the index stores it. */
export interface IndexedSession extends IndexRecord {
  readonly username: string | undefined;
  /** When the store drops it; Infinity: never. */
  readonly expiryTime: number;
  readonly accessedTime: number | undefined;
}

/** A session in the order of last access. */
export interface IndexedAccess {
  readonly id: string;
  /** The position after which a page begins; it contains the id. */
  readonly position: string;
  readonly accessedTime: number | undefined;
}

/** How an index is kept. */
export interface SessionIndexOptions {
  /** The prefix of its keys. */
  readonly prefix: string;
  /** Identifies how a session's user is found: an index made in one way is not complete for another. */
  readonly principal: string;
  /** How long after it should have expired a session is pruned. */
  readonly slackMs: number;
}

/** Reads sessions from their store; undefined for those that are gone. */
export type ReadIndexed = (ids: readonly string[]) => Promise<readonly (IndexedSession | undefined)[]>;

const FEW_TIES = 8;
/** How many sessions a step of pruning looks at: some milliseconds of the server's time. */
const PRUNE_STEP = 500;
/** For how long a process that ends while it prunes keeps others from it. */
const LEASE_MS = 10_000;

/**
 * Indexes sessions by user, by last access, by expiry and by digest, in the same Redis as the sessions. It is a hint: read a
 * session found here, and its user, from the store before relying on it.
 *
 * There is one key for each order, whatever the number of users and sessions, so that a key that Redis has evicted is
 * noticed (`claim`). Every command has a single key, as a cluster requires. The commands of a write are sent in the turn of
 * the call and need no order.
 */
export class SessionIndex {
  readonly claim: IndexClaim;
  readonly ended: EndedMarks;
  readonly #redis: RedisCommands;
  readonly #prefix: string;
  /** Sorted set: all ids by their last access. */
  readonly #accessedKey: string;
  /** Sorted set: all ids, each with its user, by the time at which they expire. */
  readonly #expiresKey: string;
  /** Sorted set: the ids of users, each with its user, in alphabetical order. */
  readonly #usersKey: string;
  /** Hash: what is known of each session beyond its store, by digest. */
  readonly #recordsKey: string;
  readonly #leaseKey: string;
  readonly #slackMs: number;

  constructor(redis: RedisCommands, { prefix, principal, slackMs }: SessionIndexOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#accessedKey = `${prefix}accessed`;
    this.#expiresKey = `${prefix}expires`;
    this.#usersKey = `${prefix}users`;
    this.#recordsKey = `${prefix}records`;
    this.#leaseKey = `${prefix}pruning`;
    this.#slackMs = slackMs;
    this.ended = new EndedMarks(redis, prefix);
    this.claim = new IndexClaim(redis, `${prefix}state`, principal, [
      { key: this.#accessedKey, type: "set" },
      { key: this.#expiresKey, type: "set" },
      { key: this.#usersKey, type: "set" },
      { key: this.#recordsKey, type: "hash" },
    ]);
  }

  /** Checks whether this part of the index holds every session; call it after the method that reads the part. */
  isComplete(part: "accessed" | "expires" | "users" | "records"): Promise<boolean> {
    return this.claim.holds(this.#prefix + part);
  }

  /** Notes that the session was made, seen or used. What is known of its creation stays, unless it was `made` just now. */
  async put(session: IndexedSession, made: boolean): Promise<void> {
    const { id, username, expiryTime, accessedTime } = session;
    const digest = sessionDigest(id);
    const member = memberOf(id, username);
    await this.#all([
      [made ? "HSET" : "HSETNX", this.#recordsKey, digest, recordText(session)],
      // An unknown access does not replace a known one.
      [
        "ZADD",
        this.#accessedKey,
        ...(accessedTime === undefined ? ["NX"] : []),
        `${accessScore(accessedTime, digest)}`,
        id,
      ],
      ["ZADD", this.#expiresKey, scoreText(expiryTime), member],
      ...(username === undefined ? [] : [["ZADD", this.#usersKey, "0", member]]),
    ]);
  }

  /** Notes a use that did not change when the session expires. @param known whether the index has the session */
  async use(id: string, accessedTime: number, known: boolean): Promise<void> {
    const score = `${accessScore(accessedTime, sessionDigest(id))}`;
    await this.#redis.command(["ZADD", this.#accessedKey, ...(known ? ["XX"] : []), score, id]);
  }

  /** Adds sessions that a search found; what the index has already, being newer, stays. */
  async fill(sessions: readonly IndexedSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const digests = sessions.map(({ id }) => sessionDigest(id));
    const accessed = sessions.flatMap(({ id, accessedTime }, at) => [`${accessScore(accessedTime, digests[at]!)}`, id]);
    const expires = sessions.flatMap(({ id, username, expiryTime }) => [scoreText(expiryTime), memberOf(id, username)]);
    const users = sessions.filter(({ username }) => username !== undefined);
    await this.#all([
      ["ZADD", this.#accessedKey, "NX", ...accessed],
      ["ZADD", this.#expiresKey, "NX", ...expires],
      ...sessions.map((session, at) => ["HSETNX", this.#recordsKey, digests[at]!, recordText(session)]),
      ...(users.length === 0
        ? []
        : [
            ["ZADD", this.#usersKey, ...users.flatMap(({ id, username }) => ["0", memberOf(id, username)])],
            ["ZREM", this.#expiresKey, ...users.map(({ id }) => memberOf(id, undefined))],
          ]),
    ]);
  }

  /** Removes the sessions from this user's; undefined: from those without a user. */
  async removeFromUser(username: string | undefined, ids: readonly string[]): Promise<void> {
    await this.#removeMembers(ids.map((id) => memberOf(id, username)));
  }

  /** Removes sessions that are gone. What the index has of a user that is not named stays until it expires. */
  async remove(ids: readonly string[], username?: string): Promise<void> {
    const users = username === undefined ? [undefined] : [undefined, username];
    await this.#removeAll(
      ids,
      users.flatMap((each) => ids.map((id) => memberOf(id, each))),
    );
  }

  /** Returns the ids of the user's sessions. */
  async idsOfUser(username: string, limit: number): Promise<string[]> {
    const user = userDigest(username);
    const range = [`[${user}:`, `(${user};`, "LIMIT", "0", `${limit}`];
    const members = (await this.#redis.command(["ZRANGEBYLEX", this.#usersKey, ...range])) as string[];
    return members.map(idIn);
  }

  /** Returns sessions by last access, newest first, after a position. */
  async newest(limit: number, position?: string): Promise<IndexedAccess[]> {
    const after = position === undefined ? undefined : accessAt(position);
    // Sessions with the same score are ordered by id, so some of the last page may have to be read again.
    for (let more = after === undefined ? 0 : FEW_TIES; ; more *= 8) {
      const range = [
        after === undefined ? "+inf" : `${after.score}`,
        "0",
        "WITHSCORES",
        "LIMIT",
        "0",
        `${limit + more}`,
      ];
      const members = scoredMembers(await this.#redis.command(["ZREVRANGEBYSCORE", this.#accessedKey, ...range]));
      const following = after === undefined ? members : members.filter((member) => follows(member, after));
      if (following.length < limit && members.length === limit + more) continue;
      return following.slice(0, limit).map(([id, score]) => ({
        id,
        position: positionOf(id, score),
        accessedTime: accessOfScore(score),
      }));
    }
  }

  /** Returns when each session was last used; undefined if unknown. */
  async accesses(ids: readonly string[]): Promise<(number | undefined)[]> {
    const scores = await scoresOf(this.#redis, this.#accessedKey, ids);
    return scores.map((score) => (score === undefined ? undefined : accessOfScore(score)));
  }

  /** Returns what is known of each session beyond its store. */
  async records(ids: readonly string[]): Promise<(IndexRecord | undefined)[]> {
    if (ids.length === 0) return [];
    const texts = await this.#redis.command(["HMGET", this.#recordsKey, ...ids.map(sessionDigest)]);
    return (texts as (string | null)[]).map(recordOf);
  }

  /** Returns the id with this `sessionDigest`. */
  async idOf(digest: string): Promise<string | undefined> {
    const text = await this.#redis.command(["HGET", this.#recordsKey, digest]);
    const id = recordOf(text as string | null)?.id;
    return id !== undefined && sessionDigest(id) === digest ? id : undefined;
  }

  /** Counts the sessions that, as far as the index knows, have not expired. */
  async count(): Promise<number> {
    return Number(await this.#redis.command(["ZCOUNT", this.#expiresKey, `(${Date.now()}`, "+inf"]));
  }

  /**
   * Removes all sessions that should have expired, step by step. Of several processes, one does so at a time.
   *
   * @param read returns what the store still has of them
   */
  async prune(read: ReadIndexed, signal?: AbortSignal): Promise<void> {
    const lease = ["SET", this.#leaseKey, "", "PX", `${LEASE_MS}`];
    if ((await this.#redis.command([...lease, "NX"])) === null) return;
    for (let more = true; more && signal?.aborted !== true; ) {
      const began = performance.now();
      more = await this.#pruneStep(read);
      await this.#redis.command(more ? lease : ["DEL", this.#leaseKey]);
      // It rests as long as it worked, and so takes at most half of what the server can do.
      if (more) await delay(performance.now() - began);
    }
  }

  /** Resolves to whether there may be more to remove. */
  async #pruneStep(read: ReadIndexed): Promise<boolean> {
    const range = ["0", `${Date.now() - this.#slackMs}`, "LIMIT", "0", `${PRUNE_STEP}`];
    const members = (await this.#redis.command(["ZRANGEBYSCORE", this.#expiresKey, ...range])) as string[];
    if (members.length === 0) return false;
    const ids = members.map(idIn);
    const sessions = await read(ids);
    await Promise.all(sessions.map((session) => session && this.put(session, false)));
    const gone = ids.filter((_, at) => sessions[at] === undefined);
    await this.#removeAll(
      gone,
      members.filter((member, at) => member !== (sessions[at] && memberOf(ids[at]!, sessions[at].username))),
    );
    // One may have been saved again in between.
    const again = gone.length === 0 ? [] : await read(gone);
    await Promise.all(again.map((session) => session && this.put(session, false)));
    return members.length === PRUNE_STEP;
  }

  async #removeAll(ids: readonly string[], members: readonly string[]): Promise<void> {
    await Promise.all([
      this.#removeMembers(members),
      ids.length > 0 && this.#redis.command(["ZREM", this.#accessedKey, ...ids]),
      ids.length > 0 && this.#redis.command(["HDEL", this.#recordsKey, ...ids.map(sessionDigest)]),
    ]);
  }

  async #removeMembers(members: readonly string[]): Promise<void> {
    if (members.length === 0) return;
    await this.#all([this.#usersKey, this.#expiresKey].map((key) => ["ZREM", key, ...members]));
  }

  async #all(commands: readonly (readonly string[])[]): Promise<void> {
    await Promise.all(commands.map((command) => this.#redis.command(command)));
  }
}

/** Returns a session as sets of users have it: ids of one user are neighbours. */
function memberOf(id: string, username: string | undefined): string {
  return `${username === undefined ? "" : userDigest(username)}:${id}`;
}

function idIn(member: string): string {
  return member.slice(member.indexOf(":") + 1);
}

/** Forty-eight bits: users who share a digest only cost each other a comparison. */
function userDigest(username: string): string {
  return sessionDigest(username).slice(0, 12);
}

function scoreText(time: number): string {
  return time === Number.POSITIVE_INFINITY ? "+inf" : `${Math.round(time)}`;
}

function recordText({ id, creationTime, firstSeenTime }: IndexRecord): string {
  return `${creationTime ?? ""} ${firstSeenTime} ${id}`;
}

/** Parses a record; undefined for any other string. */
function recordOf(text: string | null): IndexRecord | undefined {
  const [, created, seen, id] = /^(\d*) (\d+) (.+)$/s.exec(text ?? "") ?? [];
  if (seen === undefined || id === undefined) return undefined;
  return { id, creationTime: created ? Number(created) : undefined, firstSeenTime: Number(seen) };
}

type ScoredMember = readonly [member: string, score: number];

/** Reads members with their scores from a reply that lists them flat (RESP2) or in pairs (RESP3). */
function scoredMembers(reply: unknown): ScoredMember[] {
  const flat = (reply as readonly unknown[]).flat();
  const members: ScoredMember[] = [];
  for (let at = 0; at < flat.length; at += 2) members.push([String(flat[at]), Number(flat[at + 1])]);
  return members;
}

const SCORES_PER_MS = 1024;
/** Forty bits: no session was used in the first days of 1970. */
const UNKNOWN_BELOW = 2 ** 40;

/**
 * Returns the score of an access. Few sessions share one, since a page that begins among equal scores has to read past all
 * of them. Sessions whose last access is unknown come last, in an order of their own.
 */
function accessScore(accessedTime: number | undefined, digest: string): number {
  if (accessedTime === undefined) return Number.parseInt(digest.slice(0, 10), 16);
  return Math.round(accessedTime) * SCORES_PER_MS + (Number.parseInt(digest.slice(0, 3), 16) % 1024);
}

function accessOfScore(score: number): number | undefined {
  return score < UNKNOWN_BELOW ? undefined : Math.floor(score / SCORES_PER_MS);
}

/** A position in the order of last access. */
interface AccessPosition {
  readonly id: string;
  readonly score: number;
}

function positionOf(id: string, score: number): string {
  return `${score} ${id}`;
}

function accessAt(position: string): AccessPosition {
  const [, score, id] = /^(\S+) (.+)$/s.exec(position) ?? [];
  return { score: Number(score), id: id ?? "" };
}

/** Checks whether a member comes after the position, newest first. Redis orders members of one score by their bytes. */
function follows([id, score]: ScoredMember, after: AccessPosition): boolean {
  return score < after.score || (score === after.score && Buffer.compare(Buffer.from(id), Buffer.from(after.id)) < 0);
}
