import { sessionDigest } from "../../../sessions/session-id.ts";
import { EndedMarks } from "./ended-marks.ts";
import type { RedisCommands } from "./index.ts";
import { IndexClaim } from "./index-claim.ts";
import { scoresOf, valuesAt } from "./keys.ts";

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
  /** By how much a session may live longer than the index knows. */
  readonly slackMs: number;
}

/** How long a record outlives its session, so that a search for the session finds that it is gone. */
const RECORD_GRACE_MS = 3_600_000;
const FEW_TIES = 8;
/** Every how many writes a user's expired ids, which no search returns, are removed. */
const PRUNE_EVERY = 8;

/**
 * Indexes sessions by user, by last access and by digest, in the same Redis as the sessions. It is a hint: read a session
 * found here, and its user, from the store before relying on it.
 *
 * Each key holds one thing, so that every command has a single key, as a cluster requires. The commands of a write are sent
 * in the turn of the call (except two after a user's first session) and need no order.
 */
export class SessionIndex {
  readonly claim: IndexClaim;
  readonly ended: EndedMarks;
  readonly #redis: RedisCommands;
  readonly #prefix: string;
  /** Sorted set: all ids by their last access. */
  readonly #accessedKey: string;
  /** Sorted set: all ids by the time at which they expire. */
  readonly #expiresKey: string;
  readonly #slackMs: number;
  /** Redis before 7.0 cannot extend a lifetime conditionally; there, the set of a user who never returns stays. */
  #extendsOnly = true;
  #userWrites = 0;

  constructor(redis: RedisCommands, { prefix, principal, slackMs }: SessionIndexOptions) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#accessedKey = `${prefix}accessed`;
    this.#expiresKey = `${prefix}expires`;
    this.#slackMs = slackMs;
    this.ended = new EndedMarks(redis, prefix);
    this.claim = new IndexClaim(redis, `${prefix}state`, principal);
  }

  /** Notes that the session was made, seen or used. What is known of its creation stays, unless it was `made` just now. */
  async put(session: IndexedSession, made: boolean): Promise<void> {
    const { id, expiryTime, accessedTime } = session;
    const digest = sessionDigest(id);
    const record = this.#recordKey(digest);
    const commands = [
      ["SET", record, recordText(session), ...(made ? [] : ["NX"]), ...lifetime(expiryTime)],
      // An unknown access does not replace a known one.
      [
        "ZADD",
        this.#accessedKey,
        ...(accessedTime === undefined ? ["NX"] : []),
        `${accessScore(accessedTime, digest)}`,
        id,
      ],
      ["ZADD", this.#expiresKey, scoreText(expiryTime), id],
    ];
    if (!made) commands.push(expiryCommand(record, expiryTime));
    await Promise.all([...commands.map((command) => this.#redis.command(command)), this.#putUser(session)]);
  }

  /** Notes a use that did not change when the session expires. */
  async use(id: string, accessedTime: number): Promise<void> {
    await this.#redis.command(["ZADD", this.#accessedKey, `${accessScore(accessedTime, sessionDigest(id))}`, id]);
  }

  /** Adds sessions that a search found; what the index has already, being newer, stays. */
  async fill(sessions: readonly IndexedSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const digests = sessions.map(({ id }) => sessionDigest(id));
    const accessed = sessions.flatMap(({ id, accessedTime }, at) => [`${accessScore(accessedTime, digests[at]!)}`, id]);
    const expires = sessions.flatMap(({ id, expiryTime }) => [scoreText(expiryTime), id]);
    await Promise.all([
      this.#redis.command(["ZADD", this.#accessedKey, "NX", ...accessed]),
      this.#redis.command(["ZADD", this.#expiresKey, "NX", ...expires]),
      ...sessions.map((session, at) => {
        const record = this.#recordKey(digests[at]!);
        return this.#redis.command(["SET", record, recordText(session), "NX", ...lifetime(session.expiryTime)]);
      }),
      ...sessions.map((session) => this.#putUser(session, "NX")),
    ]);
  }

  /** Removes the sessions from this user's. */
  async removeFromUser(username: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#redis.command(["ZREM", this.#userKey(username), ...ids]);
  }

  /** Removes sessions that are gone. */
  async remove(ids: readonly string[], username?: string): Promise<void> {
    if (ids.length === 0) return;
    await Promise.all([
      this.#redis.command(["ZREM", this.#accessedKey, ...ids]),
      this.#redis.command(["ZREM", this.#expiresKey, ...ids]),
      ...(username === undefined ? [] : [this.removeFromUser(username, ids)]),
    ]);
  }

  /** Returns the ids of the user's sessions, longest remaining life first. */
  async idsOfUser(username: string, limit: number): Promise<string[]> {
    const alive = ["+inf", `${Date.now() - this.#slackMs}`, "LIMIT", "0", `${limit}`];
    return (await this.#redis.command(["ZREVRANGEBYSCORE", this.#userKey(username), ...alive])) as string[];
  }

  /** Returns sessions by last access, newest first, after a position. */
  async newest(limit: number, position?: string): Promise<IndexedAccess[]> {
    const after = position === undefined ? undefined : accessAt(position);
    // Sessions with the same score are ordered by id, so some of the last page may have to be read again.
    for (let more = after === undefined ? 0 : FEW_TIES; ; more *= 8) {
      const range = [
        after === undefined ? "+inf" : `${after.score}`,
        "-inf",
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
    const keys = ids.map((id) => this.#recordKey(sessionDigest(id)));
    return (await valuesAt(this.#redis, keys)).map(recordOf);
  }

  /** Returns the id with this `sessionDigest`, if a session has lately had it. */
  async idOf(digest: string): Promise<string | undefined> {
    const [text] = await valuesAt(this.#redis, [this.#recordKey(digest)]);
    const id = recordOf(text ?? null)?.id;
    return id !== undefined && sessionDigest(id) === digest ? id : undefined;
  }

  /** Counts the sessions that, as far as the index knows, have not expired. */
  async count(): Promise<number> {
    return Number(await this.#redis.command(["ZCOUNT", this.#expiresKey, `(${Date.now()}`, "+inf"]));
  }

  /** Returns sessions that should have expired long ago, oldest first. */
  async overdue(limit: number): Promise<string[]> {
    const range = ["-inf", `${Date.now() - this.#slackMs}`, "LIMIT", "0", `${limit}`];
    return (await this.#redis.command(["ZRANGEBYSCORE", this.#expiresKey, ...range])) as string[];
  }

  async #putUser({ id, username, expiryTime }: IndexedSession, ...condition: "NX"[]): Promise<void> {
    if (username === undefined) return;
    const key = this.#userKey(username);
    const commands = [["ZADD", key, ...condition, scoreText(expiryTime), id]];
    if (++this.#userWrites % PRUNE_EVERY === 0) {
      commands.push(["ZREMRANGEBYSCORE", key, "-inf", `${Date.now() - this.#slackMs}`]);
    }
    await Promise.all([...commands.map((command) => this.#redis.command(command)), this.#extend(key, expiryTime)]);
  }

  /** Makes the key live at least as long as this session. */
  async #extend(key: string, expiryTime: number): Promise<void> {
    if (expiryTime === Number.POSITIVE_INFINITY) return void (await this.#redis.command(["PERSIST", key]));
    if (!this.#extendsOnly) return;
    const seconds = `${Math.ceil((expiryTime + this.#slackMs - Date.now()) / 1000)}`;
    const conditions = ["NX", "GT"].map((condition) => this.#redis.command(["EXPIRE", key, seconds, condition]));
    const [first, ...others] = await Promise.allSettled(conditions);
    for (const outcome of [first!, ...others]) {
      if (outcome.status !== "rejected") continue;
      if (!/unsupported option|wrong number of arguments/i.test(String(outcome.reason?.cause))) throw outcome.reason;
      this.#extendsOnly = false;
    }
    if (first?.status === "fulfilled" && Number(first.value) === 1) await this.#keepEndless(key);
  }

  /** Keeps a key without a lifetime if it has a session that never expires; otherwise it was new. */
  async #keepEndless(key: string): Promise<void> {
    const endless = await this.#redis.command(["ZCOUNT", key, "+inf", "+inf"]);
    if (Number(endless) > 0) await this.#redis.command(["PERSIST", key]);
  }

  /** Sorted set: the user's ids by the time at which they expire. Expires with the last of them. */
  #userKey(username: string): string {
    return `${this.#prefix}user:${username}`;
  }

  /** String: what is known of the session with this digest beyond its store. Expires some time after the session. */
  #recordKey(digest: string): string {
    return `${this.#prefix}id:${digest}`;
  }
}

function scoreText(time: number): string {
  return time === Number.POSITIVE_INFINITY ? "+inf" : `${Math.round(time)}`;
}

function lifetime(expiryTime: number): string[] {
  return expiryTime === Number.POSITIVE_INFINITY ? [] : ["PX", milliseconds(expiryTime)];
}

function expiryCommand(key: string, expiryTime: number): string[] {
  return expiryTime === Number.POSITIVE_INFINITY ? ["PERSIST", key] : ["PEXPIRE", key, milliseconds(expiryTime)];
}

function milliseconds(expiryTime: number): string {
  return `${Math.max(1, Math.round(expiryTime + RECORD_GRACE_MS - Date.now()))}`;
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
