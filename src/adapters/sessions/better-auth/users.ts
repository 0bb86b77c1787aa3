import { ActuatorError } from "../../../common/error.ts";
import type { BetterAuthAdvancedOptions, BetterAuthContext, Row } from "./instance.ts";

/**
 * What a user is called: a column of better-auth's table `user`, such as "email", "name", "id" or "username", or what a
 * function makes of the user's row. The database cannot search by what a function makes.
 */
export type BetterAuthUsername = string | ((user: Row) => string | undefined);

/** Users that share one name: more would be no name. */
const MOST_NAMESAKES = 100;
/** So many ids fit into one statement of every database. */
const IDS_AT_ONCE = 500;

/** The names of these users, by their ids. A user who is gone has none. */
export async function usernamesOf(
  context: BetterAuthContext,
  userIds: Iterable<string>,
  username: BetterAuthUsername,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(userIds)];
  if (username === "id") return new Map(ids.map((id) => [id, id]));
  const names = new Map<string, string>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE);
    const users = await context.adapter.findMany({
      model: "user",
      where: [some.length === 1 ? { field: "id", value: some[0]! } : { field: "id", operator: "in", value: some }],
      limit: some.length,
      ...(typeof username === "string" && { select: ["id", columnOf(context, username)] }),
    });
    for (const user of users) {
      const name = nameOf(user, username);
      if (name !== undefined) names.set(String(user.id), name);
    }
  }
  return names;
}

/** The ids of the users of this name; `partial` where there are more than these. */
export async function userIdsOf(
  context: BetterAuthContext,
  name: string,
  username: string,
): Promise<{ readonly ids: readonly string[]; readonly partial: boolean }> {
  if (username === "id") return { ids: fitsId(context, name) ? [name] : [], partial: false };
  const users = await context.adapter.findMany({
    model: "user",
    where: [{ field: columnOf(context, username), value: name }],
    limit: MOST_NAMESAKES + 1,
    select: ["id", username],
  });
  // Some databases compare without regard to case.
  const ids = users.filter((user) => nameOf(user, username) === name).map((user) => String(user.id));
  return { ids: ids.slice(0, MOST_NAMESAKES), partial: users.length > MOST_NAMESAKES };
}

/** Whether an id has the shape of this application's ids. A database refuses to look for a number or UUID that is none. */
export function fitsId({ options }: BetterAuthContext, id: string): boolean {
  const made = (options as BetterAuthAdvancedOptions).advanced?.database?.generateId;
  if (made === "serial") return /^[1-9]\d{0,8}$/.test(id);
  if (made === "uuid") return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id);
  return true;
}

function columnOf({ tables }: BetterAuthContext, username: string): string {
  if (Object.hasOwn(tables.user?.fields ?? {}, username)) return username;
  const message = "better-auth's users have no such column as option `username` of betterAuthSessions names.";
  throw new ActuatorError("FAILED_PRECONDITION", "USERNAME_COLUMN_UNKNOWN", message);
}

function nameOf(user: Row, username: BetterAuthUsername): string | undefined {
  const name = typeof username === "string" ? user[username] : resolved(user, username);
  if (typeof name === "number") return String(name);
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** One user whom the function cannot read must not hide the others. */
function resolved(user: Row, resolve: (user: Row) => string | undefined): unknown {
  try {
    return resolve(user);
  } catch {
    return undefined;
  }
}
