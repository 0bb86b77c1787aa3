import { ActuatorError } from "../common/error.ts";
import type { StoreOptions } from "../configuration/serve-options.ts";
import { requireStorePackage } from "../configuration/store-package.ts";
import type { SessionStore } from "../sessions/store.ts";

/** Opens the session store at a URL. */
type Open = (url: string, options: StoreOptions) => Promise<SessionStore>;

const OPENERS: Readonly<Record<"redis" | "postgres", Readonly<Record<"connect" | "spring", Open>>>> = {
  redis: {
    connect: connectRedis,
    spring: async (url, { namespace, indexed, timeoutMs }) => {
      const { springSessions } = await import("../adapters/sessions/spring/index.ts");
      return springSessions({ redis: url, namespace, indexed, timeoutMs });
    },
  },
  postgres: {
    connect: async (url, { table, schema, timeZone, ttlMs, principal, timeoutMs }) => {
      const { connectPgSimpleSessions } = await import("../adapters/sessions/connect-pg-simple/index.ts");
      return connectPgSimpleSessions(undefined, { url, table, schema, timeZone, ttlMs, principal, timeoutMs });
    },
    spring: async (url, { table, schema, timeoutMs }) => {
      const { springSessions } = await import("../adapters/sessions/spring/index.ts");
      return springSessions({ postgres: url, tableName: table, schema, timeoutMs });
    },
  },
};

/**
 * Opens the session store that other processes share. It connects with the first call, and again when the connection breaks.
 *
 * @throws ActuatorError FAILED_PRECONDITION if the package for the store is not installed
 */
export async function openSessionStore(options: StoreOptions): Promise<SessionStore> {
  await requireStorePackage(options);
  const { redis, postgres, layout = "connect" } = options;
  const url = (redis ?? postgres)!;
  return OPENERS[redis === undefined ? "postgres" : "redis"][layout](url, options);
}

/**
 * Checks whether a store answers. A fault may be temporary, and is not a reason not to start.
 *
 * @returns the fault; undefined if the store answers
 */
export async function sessionStoreFault(store: SessionStore): Promise<string | undefined> {
  try {
    await store.findById("00000000-0000-4000-8000-000000000000");
    return undefined;
  } catch (error) {
    return error instanceof ActuatorError ? error.message : "it cannot be read";
  }
}

/** The store object of connect-redis is in other processes: this one has the properties that the adapter reads; no call passes it. */
async function connectRedis(url: string, options: StoreOptions): Promise<SessionStore> {
  const { connectRedisSessions } = await import("../adapters/sessions/connect-redis/index.ts");
  const { redisCommands } = await import("../adapters/kit/redis/index.ts");
  const { prefix = "sess:", ttlMs = 86_400_000, principal, index = false, timeoutMs } = options;
  const client = redisCommands(url, { timeoutMs });
  const unused = () => undefined;
  const store = {
    client,
    prefix,
    ttl: ttlMs / 1_000,
    serializer: JSON,
    get: unused,
    set: unused,
    destroy: unused,
  };
  const sessions = connectRedisSessions(store as unknown as Parameters<typeof connectRedisSessions>[0], {
    // An index that the applications do not keep would miss what they write.
    index,
    principal,
    timeoutMs,
  });
  return {
    ...sessions,
    async detach() {
      await sessions.detach?.();
      await client.close();
    },
  };
}
