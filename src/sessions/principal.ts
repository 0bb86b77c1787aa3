/** What a store keeps of a session, parsed. */
export type SessionRecord = Readonly<Record<string, unknown>>;

/** Returns whose session this is; undefined if no user is logged in. If it throws, the session has no user. */
export type PrincipalResolver = (record: SessionRecord) => string | undefined;

/** Paths in a record at which the user's name may stand, most likely first: `[["passport", "user"], ["userId"]]`. */
export type PrincipalPaths = readonly (readonly [string, ...string[]])[];

/**
 * How to find a session's user: paths in the record, of which the first that holds a non-empty string or a number counts,
 * or a function. A store that searches through an index over its records needs paths.
 */
export type Principal = PrincipalPaths | PrincipalResolver;

/**
 * `passport.user`, or its `username`, `email` or `id` if it is an object, then `user.username`, `user.email`, `user.name`,
 * `user`, `username` and `userId`, in this order.
 */
export const DEFAULT_PRINCIPAL: PrincipalPaths = [
  ["passport", "user"],
  ["passport", "user", "username"],
  ["passport", "user", "email"],
  ["passport", "user", "id"],
  ["user", "username"],
  ["user", "email"],
  ["user", "name"],
  ["user"],
  ["username"],
  ["userId"],
];

/** Returns what is wrong with a value as a `Principal`, as the rest of a sentence; undefined if it is valid. */
export function principalFault(value: unknown): string | undefined {
  if (typeof value === "function") return undefined;
  const isPath = (path: unknown) =>
    Array.isArray(path) && path.length > 0 && path.every((key) => typeof key === "string" && key !== "");
  if (Array.isArray(value) && value.every(isPath)) return undefined;
  return 'must be a function, or a list of paths such as [["passport", "user"], ["userId"]]';
}

/** Returns a resolver that never throws and gives a string or undefined: one unreadable session must not hide the others. */
export function principalResolver(principal: Principal = DEFAULT_PRINCIPAL): PrincipalResolver {
  const resolve = typeof principal === "function" ? principal : (record: SessionRecord) => firstOf(record, principal);
  return (record) => {
    try {
      return nameIn(resolve(record));
    } catch {
      return undefined;
    }
  };
}

function firstOf(record: SessionRecord, paths: PrincipalPaths): string | undefined {
  for (const path of paths) {
    const name = nameIn(path.reduce<unknown>(propertyOf, record));
    if (name !== undefined) return name;
  }
  return undefined;
}

function propertyOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function nameIn(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
