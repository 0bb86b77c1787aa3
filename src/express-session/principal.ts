import type { SessionData } from "express-session";

/** Says whose session this is; undefined: nobody's. Where it throws, the session is nobody's. */
export type PrincipalResolver = (session: Readonly<SessionData>) => string | undefined;

const PATHS = [
  ["passport", "user"],
  ["user", "username"],
  ["user", "email"],
  ["user", "name"],
  ["user"],
  ["username"],
  ["userId"],
] as const;

/**
 * The first of `passport.user`, `user.username`, `user.email`, `user.name`, `user`, `username` and `userId` that is a
 * text other than "" or a number.
 */
export const defaultPrincipal: PrincipalResolver = (session) => {
  for (const path of PATHS) {
    const principal = principalText(path.reduce<unknown>(propertyOf, session));
    if (principal !== undefined) return principal;
  }
  return undefined;
};

/** Asks the resolver, whatever it does: one session it cannot read must not hide the others. */
export function principalOf(session: Readonly<SessionData>, resolve: PrincipalResolver): string | undefined {
  try {
    return principalText(resolve(session));
  } catch {
    return undefined;
  }
}

function propertyOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function principalText(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
