/** What a store keeps of a session, parsed. */
export type SessionRecord = Readonly<Record<string, unknown>>;

/** Says whose session this is; undefined: nobody's. Where it throws, the session is nobody's. */
export type PrincipalResolver = (record: SessionRecord) => string | undefined;

/** Where in a record the principal's name may stand, the likeliest place first: `[["passport", "user"], ["userId"]]`. */
export type PrincipalPaths = readonly (readonly [string, ...string[]])[];

/**
 * Whose session it is: places in the record, of which the first that holds a text other than "" or a number counts, or a
 * function of the application's own. A store that searches by an index over its records needs places.
 */
export type Principal = PrincipalPaths | PrincipalResolver;

/** `passport.user`, `user.username`, `user.email`, `user.name`, `user`, `username` and `userId`, in this order. */
export const DEFAULT_PRINCIPAL: PrincipalPaths = [
  ["passport", "user"],
  ["user", "username"],
  ["user", "email"],
  ["user", "name"],
  ["user"],
  ["username"],
  ["userId"],
];

/** What is wrong with a value as a `Principal`, as the rest of a sentence about it; undefined where it is fit. */
export function principalFault(value: unknown): string | undefined {
  if (typeof value === "function") return undefined;
  const isPath = (path: unknown) =>
    Array.isArray(path) && path.length > 0 && path.every((key) => typeof key === "string" && key !== "");
  if (Array.isArray(value) && value.every(isPath)) return undefined;
  return 'must be a function, or a list of places such as [["passport", "user"], ["userId"]]';
}

/** The resolver that never throws and gives a text or undefined: one session it cannot read must not hide the others. */
export function principalResolver(principal: Principal = DEFAULT_PRINCIPAL): PrincipalResolver {
  const resolve = typeof principal === "function" ? principal : (record: SessionRecord) => firstOf(record, principal);
  return (record) => {
    try {
      return principalText(resolve(record));
    } catch {
      return undefined;
    }
  };
}

function firstOf(record: SessionRecord, paths: PrincipalPaths): string | undefined {
  for (const path of paths) {
    const principal = principalText(path.reduce<unknown>(propertyOf, record));
    if (principal !== undefined) return principal;
  }
  return undefined;
}

function propertyOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function principalText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
