import { sessionDigest } from "../../../sessions/session-id.ts";
import { accessAt, accessOfScore, accessScore, follows, positionOf } from "./access-order.ts";
import type { RedisCommands } from "./client.ts";
import { EndedMarks } from "./ended-marks.ts";
import { IndexClaim } from "./index-claim.ts";
import {
  type IndexRecord,
  recordOf,
  recordText,
  type SessionIndexKeys,
  sessionIndexKeys,
} from "./session-index-keys.ts";
import { scoredMembers, scoresOf, valuesAt } from "./values.ts";

/** A session as the index needs it. Times are milliseconds since the epoch. */
export interface IndexedSession extends IndexRecord {
  readonly username: string | undefined;
  /** When the store drops it; Infinity: never. */
  readonly expiryTime: number;
  readonly accessedTime: number | undefined;
}

/** A session in the order of last accesses. */
export interface IndexedAccess {
  readonly id: string;
  /** What a page begins after. It holds the id. */
  readonly position: string;
  readonly accessedTime: number | undefined;
}

/** How an index is kept. */
export interface SessionIndexOptions {
  /** What its keys begin with. */
  readonly prefix: string;
  /** Stands for how the name of a session's user is found: what one way has found says nothing about another. */
  readonly principal: string;
  /** Milliseconds by which a session may live longer than the index knows. */
  readonly slack: number;
}

/** Milliseconds for which a record is kept after its session, so that what looks for it finds that it is gone. */
const RECORD_GRACE = 3_600_000;
const FEW_TIES = 8;
/** A user's ids that have expired are found by nobody, and dropped with some writes only. */
const PRUNE_EVERY = 8;

/**
 * An index of sessions, kept beside them in the same Redis: by user, by last access and by digest. It is a hint: whoever
 * finds a session here reads the session itself, and its user, before he believes it.
 *
 * The commands of a write are sent in the turn of the call (but for two after a user's first session), and each has one key
 * only. They need no order.
 */
export class SessionIndex {
  readonly claim: IndexClaim;
  readonly ended: EndedMarks;
  readonly #redis: RedisCommands;
  readonly #keys: SessionIndexKeys;
  readonly #slack: number;
  /** Redis before 7.0 cannot say "at least": there, the set of a user who never returns stays. */
  #extendsOnly = true;
  #userWrites = 0;

  constructor(redis: RedisCommands, { prefix, principal, slack }: SessionIndexOptions) {
    this.#redis = redis;
    this.#keys = sessionIndexKeys(prefix);
    this.#slack = slack;
    this.ended = new EndedMarks(redis, prefix);
    this.claim = new IndexClaim(redis, this.#keys.state, principal);
  }

  /** The session was made, seen or used. What was known before of its creation stays, unless it was `made` just now. */
  async put(session: IndexedSession, made: boolean): Promise<void> {
    const { id, expiryTime, accessedTime } = session;
    const digest = sessionDigest(id);
    const record = this.#keys.record(digest);
    const commands = [
      ["SET", record, recordText(session), ...(made ? [] : ["NX"]), ...lifetime(expiryTime)],
      // An access that is not known is no news.
      [
        "ZADD",
        this.#keys.accessed,
        ...(accessedTime === undefined ? ["NX"] : []),
        `${accessScore(accessedTime, digest)}`,
        id,
      ],
      ["ZADD", this.#keys.expires, scoreText(expiryTime), id],
    ];
    if (!made) commands.push(expiryCommand(record, expiryTime));
    await Promise.all([...commands.map((command) => this.#redis.command(command)), this.#putUser(session)]);
  }

  /** The session was used, which did not change when it expires. */
  async use(id: string, accessedTime: number): Promise<void> {
    await this.#redis.command(["ZADD", this.#keys.accessed, `${accessScore(accessedTime, sessionDigest(id))}`, id]);
  }

  /** Sessions that a search came across: what is known of them already, being newer, stays. */
  async fill(sessions: readonly IndexedSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const digests = sessions.map(({ id }) => sessionDigest(id));
    const accessed = sessions.flatMap(({ id, accessedTime }, at) => [`${accessScore(accessedTime, digests[at]!)}`, id]);
    const expires = sessions.flatMap(({ id, expiryTime }) => [scoreText(expiryTime), id]);
    await Promise.all([
      this.#redis.command(["ZADD", this.#keys.accessed, "NX", ...accessed]),
      this.#redis.command(["ZADD", this.#keys.expires, "NX", ...expires]),
      ...sessions.map((session, at) => {
        const record = this.#keys.record(digests[at]!);
        return this.#redis.command(["SET", record, recordText(session), "NX", ...lifetime(session.expiryTime)]);
      }),
      ...sessions.map((session) => this.#putUser(session, "NX")),
    ]);
  }

  /** The session is no longer this user's. */
  async removeFromUser(username: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#redis.command(["ZREM", this.#keys.user(username), ...ids]);
  }

  /** The sessions are gone. */
  async remove(ids: readonly string[], username?: string): Promise<void> {
    if (ids.length === 0) return;
    await Promise.all([
      this.#redis.command(["ZREM", this.#keys.accessed, ...ids]),
      this.#redis.command(["ZREM", this.#keys.expires, ...ids]),
      ...(username === undefined ? [] : [this.removeFromUser(username, ids)]),
    ]);
  }

  /** The ids that the user's sessions may have, those that live longest first. */
  async idsOfUser(username: string, limit: number): Promise<string[]> {
    const alive = ["+inf", `${Date.now() - this.#slack}`, "LIMIT", "0", `${limit}`];
    return (await this.#redis.command(["ZREVRANGEBYSCORE", this.#keys.user(username), ...alive])) as string[];
  }

  /** Sessions by last access, the newest first, after the position of another. */
  async newest(limit: number, position?: string): Promise<IndexedAccess[]> {
    const after = position === undefined ? undefined : accessAt(position);
    // Sessions of the same score stand in the order of their ids, so that one may have to pass some of the last page again.
    for (let more = after === undefined ? 0 : FEW_TIES; ; more *= 8) {
      const range = [
        after === undefined ? "+inf" : `${after.score}`,
        "-inf",
        "WITHSCORES",
        "LIMIT",
        "0",
        `${limit + more}`,
      ];
      const members = scoredMembers(await this.#redis.command(["ZREVRANGEBYSCORE", this.#keys.accessed, ...range]));
      const following = after === undefined ? members : members.filter((member) => follows(member, after));
      if (following.length < limit && members.length === limit + more) continue;
      return following.slice(0, limit).map(([id, score]) => ({
        id,
        position: positionOf(id, score),
        accessedTime: accessOfScore(score),
      }));
    }
  }

  /** When each session was last seen to be used; undefined: not known. */
  async accesses(ids: readonly string[]): Promise<(number | undefined)[]> {
    const scores = await scoresOf(this.#redis, this.#keys.accessed, ids);
    return scores.map((score) => (score === undefined ? undefined : accessOfScore(score)));
  }

  /** What is known of each session beyond its store. */
  async records(ids: readonly string[]): Promise<(IndexRecord | undefined)[]> {
    const keys = ids.map((id) => this.#keys.record(sessionDigest(id)));
    return (await valuesAt(this.#redis, keys)).map(recordOf);
  }

  /** The id of which `sessionDigest` makes this, where a session has had it lately. */
  async idOf(digest: string): Promise<string | undefined> {
    const [text] = await valuesAt(this.#redis, [this.#keys.record(digest)]);
    const id = recordOf(text ?? null)?.id;
    return id !== undefined && sessionDigest(id) === digest ? id : undefined;
  }

  /** How many sessions have not expired, as far as the index knows. */
  async count(): Promise<number> {
    return Number(await this.#redis.command(["ZCOUNT", this.#keys.expires, `(${Date.now()}`, "+inf"]));
  }

  /** Sessions that should have expired long ago, the longest first. */
  async overdue(limit: number): Promise<string[]> {
    const range = ["-inf", `${Date.now() - this.#slack}`, "LIMIT", "0", `${limit}`];
    return (await this.#redis.command(["ZRANGEBYSCORE", this.#keys.expires, ...range])) as string[];
  }

  async #putUser({ id, username, expiryTime }: IndexedSession, ...condition: "NX"[]): Promise<void> {
    if (username === undefined) return;
    const key = this.#keys.user(username);
    const commands = [["ZADD", key, ...condition, scoreText(expiryTime), id]];
    if (++this.#userWrites % PRUNE_EVERY === 0) {
      commands.push(["ZREMRANGEBYSCORE", key, "-inf", `${Date.now() - this.#slack}`]);
    }
    await Promise.all([...commands.map((command) => this.#redis.command(command)), this.#extend(key, expiryTime)]);
  }

  /** Lets the key live at least as long as this session. */
  async #extend(key: string, expiryTime: number): Promise<void> {
    if (expiryTime === Number.POSITIVE_INFINITY) return void (await this.#redis.command(["PERSIST", key]));
    if (!this.#extendsOnly) return;
    const seconds = `${Math.ceil((expiryTime + this.#slack - Date.now()) / 1000)}`;
    const conditions = ["NX", "GT"].map((condition) => this.#redis.command(["EXPIRE", key, seconds, condition]));
    const [first, ...others] = await Promise.allSettled(conditions);
    for (const outcome of [first!, ...others]) {
      if (outcome.status !== "rejected") continue;
      if (!/unsupported option|wrong number of arguments/i.test(String(outcome.reason?.cause))) throw outcome.reason;
      this.#extendsOnly = false;
    }
    if (first?.status === "fulfilled" && Number(first.value) === 1) await this.#keepEndless(key);
  }

  /** A key that had no end may be new, or have a session that never expires. */
  async #keepEndless(key: string): Promise<void> {
    const endless = await this.#redis.command(["ZCOUNT", key, "+inf", "+inf"]);
    if (Number(endless) > 0) await this.#redis.command(["PERSIST", key]);
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
  return `${Math.max(1, Math.round(expiryTime + RECORD_GRACE - Date.now()))}`;
}
