import type { SessionData, Store } from "express-session";
import type { Sightings } from "./sightings.ts";

type Method = (...args: never[]) => unknown;
type Listener = (result: never, ...args: never[]) => void;

/**
 * Notes in `sightings` what passes through the store's methods, on the very object that the application holds.
 * Arguments, results and `this` stay as they are. Returns what puts the object back as it was.
 */
export function watchStore(store: Store, sightings: Sightings): () => void {
  const stored = new WeakSet<object>();
  const listeners: Readonly<Record<string, Listener>> = {
    createSession(session: object, request: { sessionID?: unknown }, data: SessionData) {
      stored.add(session);
      if (typeof request.sessionID === "string") sightings.see(request.sessionID, data, false);
    },
    set(_: unknown, id: string, session: SessionData | undefined) {
      if (typeof session !== "object" || session === null) return;
      sightings.see(id, session, hasRequest(session) && !stored.has(session));
      sightings.use(id, session);
      stored.add(session);
    },
    touch(_: unknown, id: string, session: SessionData | undefined) {
      sightings.use(id, session);
    },
    destroy(_: unknown, id: string) {
      sightings.forget(id);
    },
    clear() {
      sightings.clear();
    },
  };
  const restores = Object.entries(listeners).map(([name, listener]) => listen(store, name, listener));
  return () => {
    for (const restore of restores) restore();
  };
}

/**
 * The library makes a request's session anew or has `createSession` make it of what is stored. What it saves without
 * having been stored before is therefore new. A session without a request was put there by other code, and may be as old
 * as it likes.
 */
function hasRequest(session: SessionData): boolean {
  return (session as { req?: unknown }).req !== undefined;
}

function listen(store: Store, name: string, listener: Listener): () => void {
  const method: unknown = Reflect.get(store, name);
  if (typeof method !== "function") return () => {};
  const own = Object.getOwnPropertyDescriptor(store, name);
  let listening = true;
  function listened(this: unknown, ...args: never[]): unknown {
    const result = Reflect.apply(method as Method, this, args);
    if (listening) listener(result as never, ...args);
    return result;
  }
  Object.defineProperty(store, name, { value: listened, configurable: true, writable: true, enumerable: false });
  return () => {
    listening = false;
    // Somebody wrapped the method after us: taking ours out would take theirs out too.
    if (Reflect.get(store, name) !== listened) return;
    if (own === undefined) Reflect.deleteProperty(store, name);
    else Object.defineProperty(store, name, own);
  };
}
