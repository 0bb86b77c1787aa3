import {
  DEFAULT_PRINCIPAL,
  type Principal,
  type PrincipalResolver,
  principalResolver,
} from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { attributeNames, maxInactiveInterval } from "../../kit/connect-session/record.ts";
import type { Sightings } from "../../kit/connect-session/sightings.ts";
import type { RedisCommands } from "../../kit/redis/index.ts";
import { SessionKeys } from "../../kit/redis/keys.ts";
import type { IndexedSession, IndexRecord, SessionIndex } from "../../kit/redis/session-index.ts";
import { type ConnectRedisIndexOptions, lifetimeOf, type RedisStoreSettings } from "./settings.ts";
import type { StoredSession, StoredSessions } from "./stored-sessions.ts";

/** connect-redis rounds the time that a session has left up to whole seconds. */
const ROUNDED_BY = 1000;
/** By how much the clock of the process that used a session may differ from ours, and the time of its command. */
const TOLERANCE = 500;

/** How one store's sessions are interpreted. */
export interface SessionView {
  readonly settings: RedisStoreSettings;
  readonly principal: PrincipalResolver;
  /** Whether a user's name appears in the record as it is. */
  readonly namesInRecords: boolean;
  /** Identifies the way in which users are found, since an index holds for one way only. */
  readonly principalDigest: string;
}

export function sessionView(settings: RedisStoreSettings, principal: Principal = DEFAULT_PRINCIPAL): SessionView {
  const isFunction = typeof principal === "function";
  return {
    settings,
    principal: principalResolver(principal),
    namesInRecords: !isFunction,
    principalDigest: sessionDigest(isFunction ? String(principal) : JSON.stringify(principal)).slice(0, 8),
  };
}

const DEFAULT_INDEX_PREFIX = "actuator:sessions:";
/** How much later than written a session may expire, beside uses that are not written. Pruning asks the store anyway. */
const SLACK_MS = 5_000;

/** Returns how the index beside a store's sessions is kept. */
export function indexSettingsOf({ settings, principalDigest }: SessionView, options: ConnectRedisIndexOptions) {
  const { prefix = DEFAULT_INDEX_PREFIX, intervalMs = 10_000 } = options;
  return {
    prefix: prefix + settings.prefix,
    principal: principalDigest,
    slackMs: intervalMs + SLACK_MS,
    intervalMs,
  };
}

/** Returns the keys of a store's sessions; those of its index may begin alike. */
export function sessionKeys(redis: RedisCommands, prefix: string, indexPrefix: string): SessionKeys {
  return new SessionKeys(redis, {
    prefix,
    idOf: (key) =>
      indexPrefix.startsWith(prefix) && key.startsWith(indexPrefix) ? undefined : key.slice(prefix.length),
  });
}

/** Returns the session as the index keeps it, from what its store says alone. */
export function indexedOf({ settings, principal }: SessionView, stored: StoredSession): IndexedSession {
  const { id, record, expiryTime } = stored;
  const lifetime = lifetimeOf(settings, record);
  return {
    id,
    username: principal(record),
    expiryTime,
    accessedTime: lastAccess(settings, expiryTime, lifetime, undefined),
    creationTime: undefined,
    firstSeenTime: Date.now(),
  };
}

/** Reads sessions with what the index knows about them, in one round trip. */
export class SessionReader {
  readonly #stored: StoredSessions;
  readonly #index: SessionIndex | undefined;
  readonly #view: SessionView;
  /** For sessions without a record in the index, because there is no index or it must not be written. */
  readonly #sightings: Sightings;

  constructor(stored: StoredSessions, index: SessionIndex | undefined, view: SessionView, sightings: Sightings) {
    this.#stored = stored;
    this.#index = index;
    this.#view = view;
    this.#sightings = sightings;
  }

  /**
   * Reads each session; undefined if there is none.
   *
   * @param accessed the last accesses that the index returned with these ids
   */
  async read(ids: readonly string[], accessed?: readonly (number | undefined)[]): Promise<(Session | undefined)[]> {
    if (ids.length === 0) return [];
    const [stored, records, times] = await Promise.all([
      this.#stored.read(ids),
      this.#index?.records(ids) ?? [],
      accessed ?? this.#index?.accesses(ids) ?? [],
    ]);
    await this.#addMissing(stored, records);
    return stored.map((each, at) => each && this.#session(each, records[at], times[at]));
  }

  #session({ id, record, expiryTime }: StoredSession, indexed: IndexRecord | undefined, accessed?: number): Session {
    const { settings, principal } = this.#view;
    const sighting = indexed === undefined ? this.#sightings.see(id, record, false) : undefined;
    const lifetime = lifetimeOf(settings, record);
    return {
      id,
      attributeNames: attributeNames(record),
      creationTime: (indexed ?? sighting)!.creationTime,
      firstSeenTime: (indexed ?? sighting)!.firstSeenTime,
      lastAccessedTime: lastAccess(settings, expiryTime, lifetime, accessed ?? sighting?.lastUsedTime),
      maxInactiveInterval: intervalOf(lifetime),
      // Redis drops what has expired.
      expired: false,
      username: principal(record),
    };
  }

  /** Adds the sessions that the index lacks, so that the time at which they were first seen stays. */
  async #addMissing(stored: readonly (StoredSession | undefined)[], records: (IndexRecord | undefined)[]) {
    if (this.#index === undefined) return;
    const missing = stored.flatMap((each, at) => (each === undefined || records[at] !== undefined ? [] : [at]));
    if (missing.length === 0) return;
    try {
      await this.#index.fill(missing.map((at) => indexedOf(this.#view, stored[at]!)));
      const found = await this.#index.records(missing.map((at) => stored[at]!.id));
      for (const [number, at] of missing.entries()) records[at] = found[number];
    } catch {
      // A connection that may only read: this process remembers instead.
    }
  }
}

/**
 * Returns the time of the last use. Worked out from the time left it may be up to a second late; if the use itself was seen
 * within that second, that time counts, which is exact and the same on each read. With `disableTouch`, the time left says
 * nothing about uses.
 */
function lastAccess(
  { disableTouch }: RedisStoreSettings,
  expiryTime: number,
  lifetime: number | undefined,
  seen: number | undefined,
): number | undefined {
  if (lifetime === undefined || !Number.isFinite(expiryTime - lifetime) || disableTouch) return seen;
  const told = expiryTime - lifetime;
  if (seen !== undefined && Math.abs(told - ROUNDED_BY / 2 - seen) <= ROUNDED_BY / 2 + TOLERANCE) return seen;
  // More time is left than the record allows: another client set it.
  if (told > Date.now() + ROUNDED_BY + TOLERANCE) return seen;
  return Math.min(told, Date.now());
}

function intervalOf(lifetime: number | undefined): number | undefined {
  if (lifetime === undefined) return undefined;
  return maxInactiveInterval(lifetime === Number.POSITIVE_INFINITY ? undefined : lifetime);
}
