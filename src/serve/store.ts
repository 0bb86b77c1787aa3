import { ActuatorError } from "../common/error.ts";
import type { StoreOptions } from "../configuration/serve-options.ts";
import type { SessionStore } from "../sessions/store.ts";

/** Opens sessions at a URL. */
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
 * Opens the sessions of other processes in the store that these share. It connects with the first question, and again whenever
 * the connection broke.
 */
export async function openStore(options: StoreOptions): Promise<SessionStore> {
  const { redis, postgres, layout = "connect" } = options;
  const url = (redis ?? postgres)!;
  return OPENERS[redis === undefined ? "postgres" : "redis"][layout](url, options);
}

/**
 * Asks a store whether it answers at all.
 *
 * @returns what is wrong, for an operator; undefined where it answers. What may pass by itself is no reason not to start.
 * @throws ActuatorError FAILED_PRECONDITION where the package that talks to it is not installed.
 */
export async function storeTrouble(store: SessionStore): Promise<string | undefined> {
  try {
    await store.findById("00000000-0000-4000-8000-000000000000");
    return undefined;
  } catch (error) {
    if (!(error instanceof ActuatorError)) return "it refuses to be read";
    if (error.reason !== "PACKAGE_MISSING") return error.message;
    const { package: name } = error.metadata;
    const message = `the store of sessions needs the package ${name}, which is not installed beside connect-actuator: npm install ${name}`;
    throw new ActuatorError(error.code, error.reason, message, error.metadata, { cause: error });
  }
}

/** connect-redis's own object is in other processes: this has what is read off it, and nothing ever passes through it. */
async function connectRedis(url: string, options: StoreOptions): Promise<SessionStore> {
  const { connectRedisSessions } = await import("../adapters/sessions/connect-redis/index.ts");
  const { redisCommands } = await import("../adapters/kit/redis/index.ts");
  const { prefix = "sess:", ttlMs = 86_400_000, principal, index = false, timeoutMs } = options;
  const client = redisCommands(url, { timeoutMs });
  const elsewhere = () => undefined;
  const store = {
    client,
    prefix,
    ttl: ttlMs / 1_000,
    serializer: JSON,
    get: elsewhere,
    set: elsewhere,
    destroy: elsewhere,
  };
  const sessions = connectRedisSessions(store as unknown as Parameters<typeof connectRedisSessions>[0], {
    // An index that applications do not keep would soon hide what they write.
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
