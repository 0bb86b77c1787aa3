import { computed, signal } from "@preact/signals";
import { route } from "../state/route.ts";
import { application, link, whyNot } from "../state/server.ts";
import { SessionList } from "./session-list.ts";

/** All sessions, or those in one state, in the table. */
export const all = new SessionList((request) => link.call("sessions", "listSessions", request));
/** The sessions of the selected user, in the side panel. */
export const ofUser = new SessionList((request) => link.call("sessions", "listSessions", request));

/** The states that the table can be limited to, by their names in the address. */
export const STATES = { active: true, expired: false, both: undefined } as const;
export type StateName = keyof typeof STATES;

export const stateName = computed<StateName>(() => {
  const name = route.value.params.get("state") ?? "";
  return Object.hasOwn(STATES, name) ? (name as StateName) : "both";
});

/** What the side panel shows: a user, a session without a user, the store, or nothing. */
export type Selection = { readonly kind: "user" | "session" | "store" | "none"; readonly name: string };

export const selection = computed<Selection>(() => {
  const { subject, params } = route.value;
  if (subject !== "") return { kind: "user", name: subject };
  const id = params.get("id") ?? "";
  if (id !== "") return { kind: "session", name: id };
  return { kind: params.has("store") ? "store" : "none", name: "" };
});

/** Why sessions cannot be ended: the caller may not, or the store must not be changed from outside. */
export function whyNotEnd(): string | undefined {
  return whyNot("sessions:delete") ?? limitOf("delete");
}

/** Why the store cannot do something, in the words of the server; undefined if it can. */
export function limitOf(operation: string): string | undefined {
  return application.value?.sessionStore?.limits[operation];
}

/** Sessions that this page has ended. */
export const ended = signal<ReadonlySet<string>>(new Set());

/** What this page has ended, newest first. */
export interface Ending {
  /** Empty: no user. */
  readonly username: string;
  readonly count: number;
  readonly at: number;
}

export const endings = signal<readonly Ending[]>([]);

const MAX_ENDINGS = 100;

export function noteEnding(ending: Ending, ids: Iterable<string>): void {
  ended.value = new Set([...ended.value, ...ids]);
  if (ending.count > 0) endings.value = [ending, ...endings.value].slice(0, MAX_ENDINGS);
}
