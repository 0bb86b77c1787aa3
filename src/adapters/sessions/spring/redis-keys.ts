const PRINCIPAL = "PRINCIPAL_NAME_INDEX_NAME";
const PRINCIPAL_INDEX = `org.springframework.session.FindByIndexNameSessionRepository.${PRINCIPAL}`;

const MINUTE = 60_000;

/** The fields of a session's hash. All others are attributes, whose names follow `ATTRIBUTE`. */
export const FIELDS = ["creationTime", "lastAccessedTime", "maxInactiveInterval"] as const;
export const ATTRIBUTE = "sessionAttr:";
/** The attribute by which an application says whose session it is, unless it is for Spring Security to say; WebFlux's too. */
export const PRINCIPAL_FIELDS = [`${ATTRIBUTE}${PRINCIPAL_INDEX}`, `${ATTRIBUTE}${PRINCIPAL}`] as const;

/** The names of Spring Session's keys in one namespace; those of WebFlux are of ReactiveRedisIndexedSessionRepository. */
export interface SpringKeys {
  /** The hash of a session. */
  session(id: string): string;
  /** The key that lives exactly as long as the session, and whose end tells Spring so. Indexed repositories have it. */
  shadow(id: string): string;
  /** The sets of the sessions of a user: of the servlet repository and of WebFlux. */
  sessionsOf(username: string): readonly string[];
  /** The set of the sessions that end in the minute of `time`. */
  expirations(time: number): string;
  /** The sorted set of all sessions by their end, in its place where the application chose it, and in WebFlux. */
  readonly allExpirations: string;
  /** The set of the indexes that have the session: WebFlux. */
  indexesOf(id: string): string;
  /** What `SCAN` finds the keys of sessions by, among others. */
  readonly pattern: string;
  /** Whether this is the set of the sessions of some user. */
  isIndex(key: string): boolean;
  /** Whether this is a key like those of sessions that only an indexed repository has. */
  isBookkeeping(key: string): boolean;
  /** The id of the session whose hash this is; undefined for other keys. */
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
    pattern: `${sessions.replace(/[\\*?[\]^-]/g, "\\$&")}*`,
    isIndex: (key) => indexes.some((start) => key.startsWith(start)),
    isBookkeeping,
    idOf: (key) =>
      key.startsWith(sessions) && !isBookkeeping(key) ? key.slice(sessions.length) || undefined : undefined,
  };
}
