import { ActuatorError } from "../../../common/error.ts";
import { parseRecord } from "./record.ts";
import type { SessionEntry } from "./session-scan.ts";
import type { ConnectStore } from "./store.ts";
import { callStore } from "./store-call.ts";

/**
 * All that a store's `all` tells; undefined where it has none. MemoryStore and memorystore tell an object of sessions by
 * id; others an array of sessions, to each of which they add its `id`.
 */
export function listedSessions(store: ConnectStore, timeout: number): (() => Promise<SessionEntry[]>) | undefined {
  if (typeof store.all !== "function") return undefined;
  return async () => {
    const listing = await callStore<object>(timeout, (callback) => store.all?.(callback));
    return Array.isArray(listing) ? listing.flatMap(entryWithId) : Object.entries(listing ?? {}).flatMap(entry);
  };
}

/** Why a store that has no `all` cannot be searched. */
export const NO_LISTING =
  "The application's session store cannot list its sessions (it has no `all` method), so they cannot be searched or listed.";

function entry([id, stored]: [string, unknown]): SessionEntry[] {
  const record = parseRecord(stored);
  return record === undefined ? [] : [[id, record]];
}

function entryWithId(stored: unknown): SessionEntry[] {
  const record = parseRecord(stored);
  if (record === undefined) return [];
  const { id, ...attributes } = record;
  if (typeof id === "string") return [[id, attributes]];
  const message = "The application's session store lists its sessions without their ids.";
  throw new ActuatorError("UNIMPLEMENTED", "SESSIONS_LISTED_WITHOUT_IDS", message);
}
