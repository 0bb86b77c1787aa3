import { ActuatorError } from "../../../common/error.ts";
import type { Session } from "../../../sessions/session.ts";
import type { RedisCommands } from "../../kit/redis/client.ts";
import type { FirstSeen } from "./first-seen.ts";
import { ATTRIBUTE, FIELDS, PRINCIPAL_FIELDS, type SpringKeys } from "./redis-keys.ts";
import { numberOf, textOf } from "./serialized.ts";
import { intervalOf, isExpired, type SessionTimes, timeOf } from "./session-times.ts";

/** One namespace of Spring Session, and how it is read. */
export interface SpringRedis {
  readonly commands: RedisCommands;
  readonly keys: SpringKeys;
  readonly clock: () => number;
  readonly firstSeen: FirstSeen;
}

/** A session as its hash has it. */
export interface StoredSession {
  readonly session: Session;
  readonly times: SessionTimes;
  /** How `maxInactiveInterval` is written; undefined: not at all. */
  readonly writtenInterval: Buffer | undefined;
}

/** Longer names are no names: Spring keeps 100 characters of one where it has a column for them. */
const LONGEST_PRINCIPAL = 4_096;

/**
 * The session of this id; undefined where there is none. What Spring leaves of a deleted session for its listeners, an
 * interval of 0, is none. Only the times, the names of the fields and the one attribute that is a user's name are read.
 */
export async function readSession(
  redis: SpringRedis,
  id: string,
  username?: string,
): Promise<StoredSession | undefined> {
  const { commands, keys, clock, firstSeen } = redis;
  const key = keys.session(id);
  if (!id.isWellFormed() || keys.idOf(key) !== id) return undefined;
  const [values, names] = await Promise.all([
    commands.commandForBuffers(["HMGET", key, ...FIELDS, ...PRINCIPAL_FIELDS]) as Promise<(Buffer | null)[]>,
    commands.command(["HKEYS", key]) as Promise<string[]>,
  ]).catch(nothingWhereWrongType);
  if (!FIELDS.some((field) => names.includes(field))) return undefined;
  const [created, accessed, interval] = values.map((value) => (value === null ? undefined : numberOf(value)));
  if (interval === 0) return undefined;
  const times = {
    creationTime: timeOf(created),
    lastAccessedTime: timeOf(accessed),
    maxInactiveInterval: intervalOf(interval),
  };
  return {
    session: {
      id,
      attributeNames: attributeNames(names),
      ...times,
      firstSeenTime: times.creationTime ?? firstSeen.of(id, clock()),
      expired: isExpired(times, clock()),
      username: principalOf(values.slice(FIELDS.length)) ?? username,
    },
    times,
    writtenInterval: values[2] ?? undefined,
  };
}

function attributeNames(fields: readonly string[]): string[] {
  return fields
    .filter((field) => field.startsWith(ATTRIBUTE))
    .map((field) => field.slice(ATTRIBUTE.length))
    .sort();
}

function principalOf(values: readonly (Buffer | null)[]): string | undefined {
  const value = values.find((value) => value !== null);
  return value && value.length <= LONGEST_PRINCIPAL ? textOf(value) || undefined : undefined;
}

/** A key of another type than a hash is none of Spring's sessions. */
function nothingWhereWrongType(error: unknown): [(Buffer | null)[], string[]] {
  if (error instanceof ActuatorError && error.reason === "SESSION_STORE_WRONG_TYPE") return [[], []];
  throw error;
}
