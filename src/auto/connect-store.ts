import type { usedBefore } from "../adapters/kit/connect-session/watched-store.ts";
import type { connectPgSimpleSessions } from "../adapters/sessions/connect-pg-simple/index.ts";
import type { ConnectRedisStore, connectRedisSessions } from "../adapters/sessions/connect-redis/index.ts";
import type { expressSessions } from "../adapters/sessions/express-session/index.ts";
import type { fastifySessions } from "../adapters/sessions/fastify/index.ts";
import type { ConnectStore, fileStoreSessions } from "../adapters/sessions/session-file-store/index.ts";
import type { SessionStore } from "../sessions/store.ts";
import { part } from "./parts.ts";

type Make = (store: object) => SessionStore;

/**
 * Shows the sessions in a store that a session middleware uses, by the adapter of the library that made the store.
 *
 * @throws ActuatorError if that adapter does not support the store. Another would read all of its sessions at once.
 */
export function sessionsIn(store: object, middleware: "express-session" | "@fastify/session"): SessionStore {
  const { make } = KINDS.find(({ isKind }) => isKind(store)) ?? { make: MIDDLEWARES[middleware] };
  return make(store);
}

/** Whether an object has the methods that every store has. */
export function hasStoreMethods(object: object): boolean {
  const { get, set, destroy } = object as Readonly<Record<string, unknown>>;
  return [get, set, destroy].every((method) => typeof method === "function");
}

/** Whether an object found in the heap is a store that an adapter of its own reads, and not a prototype of such stores. */
export function isKnownStore(object: object): boolean {
  return !Object.hasOwn(object, "constructor") && KINDS.some(({ isKind }) => isKind(object));
}

/** Returns a store that requests have used before it was found: what they save at first may have been there before. */
export function usedAlready<Store extends object>(store: Store): Store {
  part<{ usedBefore: typeof usedBefore }>("adapters/kit/connect-session/watched-store").usedBefore(store);
  return store;
}

/**
 * Stores with adapters of their own, recognised by what they have, since their classes are made anew for each copy of their library, and
 * of express-session. No adapter sends anything to its store until an operator asks for something.
 */
const KINDS: readonly { readonly isKind: (store: object) => boolean; readonly make: Make }[] = [
  {
    isKind: (store: Partial<ConnectRedisStore & { disableTouch: unknown }>) =>
      typeof store.client === "object" &&
      store.client !== null &&
      typeof store.prefix === "string" &&
      typeof store.serializer?.parse === "function" &&
      typeof store.disableTouch === "boolean",
    make: (store) => {
      const adapter = part<{ connectRedisSessions: typeof connectRedisSessions }>(
        "adapters/sessions/connect-redis/index",
      );
      return adapter.connectRedisSessions(store as ConnectRedisStore, { passive: true });
    },
  },
  {
    isKind: (store: { quotedTable?: unknown; query?: unknown; pruneSessions?: unknown }) =>
      [store.quotedTable, store.query, store.pruneSessions].every((method) => typeof method === "function"),
    make: (store) => {
      const adapter = part<{ connectPgSimpleSessions: typeof connectPgSimpleSessions }>(
        "adapters/sessions/connect-pg-simple/index",
      );
      return adapter.connectPgSimpleSessions(store as ConnectStore, { passive: true });
    },
  },
  {
    isKind: ({ options }: { options?: { path?: unknown; filePattern?: unknown; decoder?: unknown } }) =>
      typeof options?.path === "string" &&
      options.filePattern instanceof RegExp &&
      typeof options.decoder === "function",
    make: (store) => {
      const adapter = part<{ fileStoreSessions: typeof fileStoreSessions }>(
        "adapters/sessions/session-file-store/index",
      );
      return adapter.fileStoreSessions(store as ConnectStore);
    },
  },
];

const MIDDLEWARES: Readonly<Record<"express-session" | "@fastify/session", Make>> = {
  "express-session": (store) => {
    const adapter = part<{ expressSessions: typeof expressSessions }>("adapters/sessions/express-session/index");
    return adapter.expressSessions(store as Parameters<typeof expressSessions>[0]);
  },
  "@fastify/session": (store) => {
    const adapter = part<{ fastifySessions: typeof fastifySessions }>("adapters/sessions/fastify/index");
    return adapter.fastifySessions(store as ConnectStore);
  },
};
