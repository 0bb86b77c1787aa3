import type { SessionStore } from "../../gen/actuator/v3/application_pb.ts";
import type { Session } from "../../gen/actuator/v3/sessions_pb.ts";
import { msOf } from "../components/timestamp.ts";

/** When a session ends by itself. */
export type Expiry =
  | { readonly kind: "expired" }
  | { readonly kind: "never" }
  | { readonly kind: "unknown" }
  /** `part` is how much of its life is left, 0 to 1. */
  | { readonly kind: "at"; readonly ms: number; readonly part: number };

export function expiryOf(session: Session, nowMs: number): Expiry {
  const { expired, lastAccessedTime, maxInactiveInterval } = session;
  if (expired) return { kind: "expired" };
  const interval = maxInactiveInterval && Number(maxInactiveInterval.seconds) * 1_000;
  if (interval === undefined) return { kind: "unknown" };
  if (interval < 0) return { kind: "never" };
  if (lastAccessedTime === undefined) return { kind: "unknown" };
  const ms = msOf(lastAccessedTime) + interval;
  return { kind: "at", ms, part: Math.min(1, Math.max(0, (ms - nowMs) / (interval || 1))) };
}

/** The beginning of an id, enough to tell sessions apart. */
export function shortId(id: string): string {
  return id.length > 9 ? `${id.slice(0, 8)}…` : id;
}

/** By so much stores are allowed to be out of order, such as one that does not write down each use at once. */
const OUT_OF_ORDER_MS = 10_000;

/** Whether the sessions are ordered by last access, as far as it is known: some stores have an order of their own. */
export function isNewestFirst(sessions: readonly Session[]): boolean {
  const times = sessions.flatMap(({ lastAccessedTime: time }) => (time === undefined ? [] : [msOf(time)]));
  return times.length > 1 && times.every((time, at) => at === 0 || time <= times[at - 1]! + OUT_OF_ORDER_MS);
}

/** The session that was used last and has not expired; the server lists a user's sessions newest access first. */
export function newestOf(sessions: readonly Session[]): Session | undefined {
  const at = ({ lastAccessedTime: time }: Session) => (time === undefined ? 0 : msOf(time));
  const active = sessions.filter(({ expired }) => !expired);
  return active.length === 0 ? undefined : active.reduce((best, each) => (at(each) > at(best) ? each : best));
}

/** The names of what these sessions keep, each once. */
export function attributesOf(sessions: readonly Session[]): readonly string[] {
  return [...new Set(sessions.flatMap(({ attributeNames }) => attributeNames))];
}

const ABILITIES: readonly (readonly [key: string, can: string, cannot: string])[] = [
  ["find_by_username", "Find the sessions of a user", "Find by user"],
  ["find_by_id", "Find a session by its id", "Find by id"],
  ["list", "List all sessions", "List all"],
  ["count", "Count all sessions", "Count"],
  ["delete", "End sessions", "End sessions"],
];

/** What a store can do, and what it cannot, with the reason that the server gives. */
export function abilitiesOf({ limits }: Pick<SessionStore, "limits">): readonly { can: boolean; text: string }[] {
  return ABILITIES.map(([key, can, cannot]) => {
    const limit = limits[key];
    return limit === undefined ? { can: true, text: can } : { can: false, text: `${cannot}: ${limit}` };
  });
}

const UNITS: readonly (readonly [seconds: bigint, name: string])[] = [
  [86_400n, "d"],
  [3_600n, "h"],
  [60n, "min"],
];

/** An interval without a remainder: `90 min`, not `1 h`. */
export function intervalWords(seconds: bigint): string {
  const [unit, name] = UNITS.find(([each]) => seconds % each === 0n && seconds > 0n) ?? [1n, "s"];
  return `${seconds / unit} ${name}`;
}

const MAX_LENGTH = 60;

/** A text from outside for the middle of a sentence: cut if it is long. */
export function inShort(text: string): string {
  return text.length > MAX_LENGTH ? `${[...text.slice(0, MAX_LENGTH)].slice(0, -1).join("")}…` : text;
}
