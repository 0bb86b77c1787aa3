import { ActuatorError } from "../common/error.ts";
import type { SessionStore } from "./store.ts";

/** What a store may be unable to do. */
export type SessionAbility = keyof typeof INABILITIES;

const INABILITIES = {
  findByUsername: { reason: "FIND_BY_USERNAME_UNSUPPORTED", what: "cannot search by user" },
  list: { reason: "LIST_ALL_UNSUPPORTED", what: "cannot list its sessions" },
  delete: { reason: "DELETE_UNSUPPORTED", what: "cannot end sessions from outside: the application has to" },
} as const;

/** @throws ActuatorError UNIMPLEMENTED where no session can be reached at all, as where they live in cookies. */
export function requireReach({ limits }: SessionStore): void {
  if (limits?.findById !== undefined) throw unable("SESSIONS_UNREACHABLE", limits.findById);
}

/** @throws ActuatorError UNIMPLEMENTED with the reason where the store cannot do this. */
export function requireAbility<Ability extends SessionAbility>(
  store: SessionStore,
  ability: Ability,
): asserts store is SessionStore & Required<Pick<SessionStore, Ability>> {
  requireReach(store);
  if (store[ability] !== undefined) return;
  const { reason, what } = INABILITIES[ability];
  throw unable(reason, store.limits?.[ability] ?? `The ${store.kind} store ${what}.`);
}

function unable(reason: string, message: string): ActuatorError {
  return new ActuatorError("UNIMPLEMENTED", reason, message);
}
