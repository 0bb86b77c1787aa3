import {
  DEFAULT_PRINCIPAL,
  type Principal,
  type PrincipalResolver,
  principalResolver,
} from "../../../sessions/principal.ts";
import type { Session } from "../../../sessions/session.ts";
import { sessionDigest } from "../../../sessions/session-id.ts";
import { attributeNames, maxInactiveInterval } from "../../kit/connect-session/record.ts";
import type { IndexedSession } from "../../kit/redis/session-index.ts";
import { lifetimeOf, type RedisStoreSettings } from "./settings.ts";
import type { StoredSession } from "./stored-sessions.ts";

/** Redis counts the time that a session has left from a number of whole seconds, which connect-redis rounds up. */
const ROUNDED_BY = 1000;
/** By how much the clock of the process that used a session may differ from ours, and the time of its command. */
const TOLERANCE = 500;

/** What is known of a session beyond what its store keeps. */
export interface Known {
  readonly creationTime: number | undefined;
  readonly firstSeenTime: number;
  /** When it was last seen to be used. */
  readonly accessedTime: number | undefined;
}

/** How one store's sessions are told. */
export interface SessionView {
  readonly settings: RedisStoreSettings;
  readonly principal: PrincipalResolver;
  /** The names of users stand in the records, letter by letter. */
  readonly namesInRecords: boolean;
  /** Stands for how the name of a user is found, so that an index knows by which way it was made. */
  readonly principalDigest: string;
}

export function sessionView(settings: RedisStoreSettings, principal: Principal = DEFAULT_PRINCIPAL): SessionView {
  const made = typeof principal === "function";
  return {
    settings,
    principal: principalResolver(principal),
    namesInRecords: !made,
    principalDigest: sessionDigest(made ? String(principal) : JSON.stringify(principal)).slice(0, 8),
  };
}

/** The session as the domain knows it. What Redis keeps has not expired. */
export function sessionOf(
  { settings, principal }: SessionView,
  { id, record, expiryTime }: StoredSession,
  { creationTime, firstSeenTime, accessedTime }: Known,
): Session {
  const lifetime = lifetimeOf(settings, record);
  return {
    id,
    attributeNames: attributeNames(record),
    creationTime,
    firstSeenTime,
    lastAccessedTime: lastAccess(settings, expiryTime, lifetime, accessedTime),
    maxInactiveInterval: intervalOf(lifetime),
    expired: false,
    username: principal(record),
  };
}

/** The session as the index keeps it, by what its store says alone. */
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

/**
 * The time of the last use. By the time that a session has left it may be up to a second early to Redis, and so late here; so
 * where the use itself was seen within that second, that counts, exactly and the same on each read. Where only saves let
 * a session live longer, the time it has left says nothing of its use.
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
  // Longer than the record allows: somebody else set it.
  if (told > Date.now() + ROUNDED_BY + TOLERANCE) return seen;
  return Math.min(told, Date.now());
}

function intervalOf(lifetime: number | undefined): number | undefined {
  if (lifetime === undefined) return undefined;
  return maxInactiveInterval(lifetime === Number.POSITIVE_INFINITY ? undefined : lifetime);
}
