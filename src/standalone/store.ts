import { ActuatorError } from "../error.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { StoreOptions } from "./options.ts";

/** A way to keep sessions: what else can be said of it, and how it is opened at a URL. */
interface StoreLayout {
  readonly takes: readonly (keyof StoreOptions)[];
  open(url: string, options: StoreOptions): Promise<SessionStore>;
}

const LAYOUTS: Readonly<Record<"redis" | "postgres", Readonly<Record<"connect" | "spring", StoreLayout>>>> = {
  redis: {
    connect: { takes: ["prefix", "ttl", "principal", "index"], open: connectRedis },
    spring: {
      takes: ["namespace", "indexed"],
      open: async (url, { namespace, indexed, timeout }) => {
        const { springSessionRedis } = await import("../spring-session/index.ts");
        return springSessionRedis(url, { namespace, indexed, timeout });
      },
    },
  },
  postgres: {
    connect: {
      takes: ["table", "schema", "timeZone", "ttl", "principal"],
      open: async (url, { table, schema, timeZone, ttl, principal, timeout }) => {
        const { connectPgSimpleSessions } = await import("../connect-pg-simple/index.ts");
        return connectPgSimpleSessions(undefined, { url, table, schema, timeZone, ttl, principal, timeout });
      },
    },
    spring: {
      takes: ["table", "schema"],
      open: async (url, { table, schema, timeout }) => {
        const { springSessionJdbc } = await import("../spring-session/index.ts");
        return springSessionJdbc(url, { tableName: table, schema, timeout });
      },
    },
  },
};

/**
 * What is wrong with a store as a whole, as the ends of sentences about it: it has no URL or two, or something is said of it that
 * another kind of store has.
 */
export function storeFaults(options: StoreOptions): string[] {
  const { redis, postgres, layout = "connect", timeout: _, ...rest } = options;
  if ((redis === undefined) === (postgres === undefined)) return ["must have either redis or postgres, a URL"];
  const { takes } = LAYOUTS[redis === undefined ? "postgres" : "redis"][layout];
  const where = `${redis === undefined ? "postgres" : "redis"} with the layout "${layout}"`;
  return Object.entries(rest)
    .filter(([name, value]) => value !== undefined && !takes.includes(name as keyof StoreOptions))
    .map(([name]) => `has ${name}, which ${where} does not take; it takes ${takes.join(", ")}`);
}

/**
 * Opens the sessions of other processes in the store that these share. It connects with the first question, and again whenever
 * the connection broke.
 */
export async function openStore(options: StoreOptions): Promise<SessionStore> {
  const { redis, postgres, layout = "connect" } = options;
  const url = (redis ?? postgres)!;
  return LAYOUTS[redis === undefined ? "postgres" : "redis"][layout].open(url, options);
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
  const { connectRedisSessions } = await import("../connect-redis/index.ts");
  const { redisCommands } = await import("../redis/index.ts");
  const { prefix = "sess:", ttl = 86_400, principal, index = false, timeout } = options;
  const client = redisCommands(url, { timeout });
  const elsewhere = () => undefined;
  const store = { client, prefix, ttl, serializer: JSON, get: elsewhere, set: elsewhere, destroy: elsewhere };
  const sessions = connectRedisSessions(store as unknown as Parameters<typeof connectRedisSessions>[0], {
    // An index that applications do not keep would soon hide what they write.
    index,
    principal,
    timeout,
  });
  return {
    ...sessions,
    async detach() {
      await sessions.detach?.();
      await client.close();
    },
  };
}
