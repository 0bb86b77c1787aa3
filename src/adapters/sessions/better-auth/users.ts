import { ActuatorError } from "../../../common/error.ts";
import type { BetterAuthAdvancedOptions, BetterAuthContext, BetterAuthUsername, Row } from "./instance.ts";

/** The most users with the same name. */
const MAX_NAMESAKES = 100;
/** How many ids fit into one statement of any database. */
const MAX_IDS = 500;

/** Returns the names of these users by id. A deleted user has none. */
export async function usernamesOf(
  context: BetterAuthContext,
  userIds: Iterable<string>,
  username: BetterAuthUsername,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(userIds)];
  if (username === "id") return new Map(ids.map((id) => [id, id]));
  const names = new Map<string, string>();
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const some = ids.slice(at, at + MAX_IDS);
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

/** Returns the ids of the users with this name; `partial` if there are more. */
export async function userIdsOf(
  context: BetterAuthContext,
  name: string,
  username: string,
): Promise<{ readonly ids: readonly string[]; readonly partial: boolean }> {
  if (username === "id") return { ids: fitsId(context, name) ? [name] : [], partial: false };
  const users = await context.adapter.findMany({
    model: "user",
    where: [{ field: columnOf(context, username), value: name }],
    limit: MAX_NAMESAKES + 1,
    select: ["id", username],
  });
  // Some databases ignore case.
  const ids = users.filter((user) => nameOf(user, username) === name).map((user) => String(user.id));
  return { ids: ids.slice(0, MAX_NAMESAKES), partial: users.length > MAX_NAMESAKES };
}

/** Checks whether an id has the shape of this application's ids; databases refuse to compare a number or UUID with others. */
export function fitsId({ options }: BetterAuthContext, id: string): boolean {
  const made = (options as BetterAuthAdvancedOptions).advanced?.database?.generateId;
  if (made === "serial") return /^[1-9]\d{0,8}$/.test(id);
  if (made === "uuid") return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id);
  return true;
}

function columnOf({ tables }: BetterAuthContext, username: string): string {
  if (Object.hasOwn(tables.user?.fields ?? {}, username)) return username;
  const message = "betterAuthSessions.username must name a column of better-auth's table of users.";
  throw new ActuatorError("FAILED_PRECONDITION", "USERNAME_COLUMN_UNKNOWN", message);
}

function nameOf(user: Row, username: BetterAuthUsername): string | undefined {
  const name = typeof username === "string" ? user[username] : resolved(user, username);
  if (typeof name === "number") return String(name);
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** A row that the function cannot read must not hide the others. */
function resolved(user: Row, resolve: (user: Row) => string | undefined): unknown {
  try {
    return resolve(user);
  } catch {
    return undefined;
  }
}
