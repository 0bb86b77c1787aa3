import { ActuatorError } from "../../../common/error.ts";
import type { Session } from "../../../sessions/session.ts";
import type { RedisCommands } from "../../kit/redis/index.ts";
import { numberOf, textOf } from "./serialized.ts";
import { intervalOf, isExpired, type SessionTimes, timeOf } from "./session-times.ts";

const PRINCIPAL = "PRINCIPAL_NAME_INDEX_NAME";
const PRINCIPAL_INDEX = `org.springframework.session.FindByIndexNameSessionRepository.${PRINCIPAL}`;

const MINUTE = 60_000;

/** The fields of a session's hash. All others are attributes, whose names follow `ATTRIBUTE`. */
export const FIELDS = ["creationTime", "lastAccessedTime", "maxInactiveInterval"] as const;
export const ATTRIBUTE = "sessionAttr:";
/** The attribute with which an application states the user, unless Spring Security does; for servlets and WebFlux. */
export const PRINCIPAL_FIELDS = [`${ATTRIBUTE}${PRINCIPAL_INDEX}`, `${ATTRIBUTE}${PRINCIPAL}`] as const;

/** The names of Spring Session's keys in one namespace; WebFlux means ReactiveRedisIndexedSessionRepository. */
interface SpringKeys {
  /** The hash of a session. */
  session(id: string): string;
  /** The key that lives exactly as long as the session, and whose end notifies Spring. Only indexed repositories have it. */
  shadow(id: string): string;
  /** The sets of a user's sessions: of the servlet repository and of WebFlux. */
  sessionsOf(username: string): readonly string[];
  /** The set of the sessions that end in the minute of `time`. */
  expirations(time: number): string;
  /** The sorted set of all sessions by their end, with WebFlux or if the application chose it. */
  readonly allExpirations: string;
  /** The set of the indexes that have the session, with WebFlux. */
  indexesOf(id: string): string;
  /** The prefix of the keys of sessions, and of some others. */
  readonly prefix: string;
  /** Checks whether this is the set of a user's sessions. */
  isIndex(key: string): boolean;
  /** Checks whether this is a key with the prefix that only an indexed repository has. */
  isBookkeeping(key: string): boolean;
  /** Returns the id of the session whose hash this is; undefined for other keys. */
  idOf(key: string): string | undefined;
}

export function springKeys(namespace: string): SpringKeys {
  const sessions = `${namespace}:sessions:`;
  const session = (id: string) => `${sessions}${id}`;
  const indexes = [`${namespace}:index:${PRINCIPAL_INDEX}:`, `${sessions}index:`];
  const bookkeeping = ["expires:", "expirations", "index:"].map(session);
  const isBookkeeping = (key: string) =>
    key.startsWith(sessions) && (key.endsWith(":idx") || bookkeeping.some((start) => key.startsWith(start)));
  return {
    session,
    shadow: (id) => `${sessions}expires:${id}`,
    sessionsOf: (username) => [
      `${namespace}:index:${PRINCIPAL_INDEX}:${username}`,
      `${sessions}index:${PRINCIPAL}:${username}`,
    ],
    expirations: (time) => `${namespace}:expirations:${(Math.floor(time / MINUTE) + 1) * MINUTE}`,
    allExpirations: `${sessions}expirations`,
    indexesOf: (id) => `${sessions}${id}:idx`,
    prefix: sessions,
    isIndex: (key) => indexes.some((start) => key.startsWith(start)),
    isBookkeeping,
    idOf: (key) =>
      key.startsWith(sessions) && !isBookkeeping(key) ? key.slice(sessions.length) || undefined : undefined,
  };
}

/** One namespace of Spring Session, and how it is read. */
export interface SpringRedis {
  readonly commands: RedisCommands;
  readonly keys: SpringKeys;
  readonly clock: () => number;
  readonly firstSeen: (id: string) => number;
}

/** A session as its hash has it. */
export interface StoredSession {
  readonly session: Session;
  readonly times: SessionTimes;
  /** The bytes of `maxInactiveInterval`; undefined if it is missing. */
  readonly writtenInterval: Buffer | undefined;
}

/** Longer values are not user names: in JDBC, Spring keeps 100 characters of one. */
const LONGEST_PRINCIPAL = 4_096;

/**
 * Reads a session; undefined if there is none. What Spring keeps of a deleted session for its listeners, with an interval of
 * 0, does not count. Only the times, the names of the fields and the one attribute with a user's name are read.
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
  ]).catch(nothingIfWrongType);
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
      firstSeenTime: times.creationTime ?? firstSeen(id),
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

/** A key of another type than a hash is not a session of Spring. */
function nothingIfWrongType(error: unknown): [(Buffer | null)[], string[]] {
  if (error instanceof ActuatorError && error.reason === "SESSION_STORE_WRONG_TYPE") return [[], []];
  throw error;
}
