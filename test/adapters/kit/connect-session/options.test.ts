import { MemoryStore } from "express-session";
import { describe, expect, it } from "vitest";
import { betterAuthSessions } from "../../../../src/adapters/sessions/better-auth/index.ts";
import {
  connectPgSimpleSessions,
  prepareConnectPgSimpleSessions,
} from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import {
  connectRedisSessions,
  prepareConnectRedisSessions,
} from "../../../../src/adapters/sessions/connect-redis/index.ts";
import { expressSessions } from "../../../../src/adapters/sessions/express-session/index.ts";
import { fastifySessions } from "../../../../src/adapters/sessions/fastify/index.ts";
import { koaSessions } from "../../../../src/adapters/sessions/koa/index.ts";
import { fileStoreSessions } from "../../../../src/adapters/sessions/session-file-store/index.ts";
import { springSessions } from "../../../../src/adapters/sessions/spring/index.ts";

const store = new MemoryStore();
const redisStore = { ...store, client: { sendCommand() {} }, prefix: "sess:", serializer: JSON };

type Attach = (options: object) => unknown;
const adapters: Readonly<Record<string, Attach>> = {
  betterAuthSessions: (options) => betterAuthSessions({ options: {} } as never, options),
  connectPgSimpleSessions: (options) =>
    connectPgSimpleSessions(undefined, { url: "postgres://127.0.0.1/none", ...options }),
  connectRedisSessions: (options) => connectRedisSessions(redisStore as never, options),
  expressSessions: (options) => expressSessions(store, options),
  fastifySessions: (options) => fastifySessions(store as never, options),
  fileStoreSessions: (options) => fileStoreSessions(store, options),
  koaSessions: (options) => koaSessions(store as never, options),
  prepareConnectPgSimpleSessions: (options) =>
    prepareConnectPgSimpleSessions({ url: "postgres://127.0.0.1/none", ...options }),
  prepareConnectRedisSessions: (options) => prepareConnectRedisSessions({ redis: "redis://127.0.0.1", ...options }),
  "springSessions in PostgreSQL": (options) => springSessions({ postgres: "postgres://127.0.0.1/none", ...options }),
  "springSessions in Redis": (options) => springSessions({ redis: "redis://127.0.0.1", ...options }),
};

const having = (name: string) => Object.keys(adapters).filter((adapter) => !without[name]?.includes(adapter));
const without: Readonly<Record<string, readonly string[]>> = {
  principal: ["betterAuthSessions", "springSessions in PostgreSQL", "springSessions in Redis"],
  scan: [
    "prepareConnectPgSimpleSessions",
    "prepareConnectRedisSessions",
    "springSessions in PostgreSQL",
    "springSessions in Redis",
  ],
  timeoutMs: ["prepareConnectPgSimpleSessions"],
};

const functionOf = (adapter: string) => adapter.split(" ")[0];

async function attached(adapter: string, options: object): Promise<unknown> {
  return adapters[adapter]!(options);
}

describe.each(Object.keys(adapters))("%s", (adapter) => {
  it("refuses an option that it has not, and leaves the store alone", async () => {
    await expect(attached(adapter, { principals: [["user"]] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason: "UNKNOWN_OPTION",
      metadata: { field: `${functionOf(adapter)}.principals` },
    });
    expect(Object.hasOwn(store, "set")).toBe(false);
  });
});

type Unfit = [name: string, value: unknown, field?: string, reason?: string];

const unfit: readonly Unfit[] = [
  ["principal", "user.email"],
  ["principal", ["user", "email"]],
  ["principal", [["user", ""]]],
  ["principal", [[]]],
  ["timeoutMs", "5s"],
  ["timeoutMs", 0],
  ["timeoutMs", Number.POSITIVE_INFINITY],
  ["scan", { maxSession: 10 }, "scan.maxSession", "UNKNOWN_OPTION"],
  ["scan", { maxMs: "1s" }, "scan.maxMs"],
  ["scan", 500],
];

describe.each<Unfit>(unfit)("%s: %j", (name, value, field = name, reason = "INVALID_OPTION") => {
  it.each(having(name))("is refused by %s", async (adapter) => {
    await expect(attached(adapter, { [name]: value })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      reason,
      metadata: { field: `${functionOf(adapter)}.${field}` },
    });
    expect(Object.hasOwn(store, "set")).toBe(false);
  });
});

it("of the index are checked as well", async () => {
  for (const [adapter, index] of Object.entries({
    connectRedisSessions: { intervalMs: "10s" },
    koaSessions: { prefixes: "a" },
  })) {
    const [option] = Object.keys(index);
    const metadata = { field: `${adapter}.index.${option}` };
    await expect(attached(adapter, { index })).rejects.toMatchObject({ metadata });
  }
});

describe("arguments of another kind are refused with what was expected", () => {
  it.each<[name: string, call: () => unknown, field: string, message: RegExp]>([
    [
      "connectRedisSessions(undefined)",
      () => connectRedisSessions(undefined as never),
      "store",
      /^store must be the RedisStore/,
    ],
    [
      "connectPgSimpleSessions(null)",
      () => connectPgSimpleSessions(null as never),
      "store",
      /^store must be the store that/,
    ],
    ["connectPgSimpleSessions(undefined)", () => connectPgSimpleSessions(undefined), "url", /`pool` or `url`/],
    [
      "betterAuthSessions(undefined)",
      () => betterAuthSessions(undefined as never),
      "auth",
      /^auth must be the object that/,
    ],
    ["springSessions()", () => springSessions(undefined as never), "redis", /either redis or postgres, such as/],
    ["springSessions({})", () => springSessions({} as never), "redis", /either redis or postgres, such as/],
    [
      "springSessions({ redis: 7 })",
      () => springSessions({ redis: 7 as never }),
      "redis",
      /^redis must be a client of/,
    ],
    [
      "springSessions({ postgres: 7 })",
      () => springSessions({ postgres: 7 as never }),
      "postgres",
      /^postgres must be a pool/,
    ],
  ])("%s", (_, call, field, message) => {
    const metadata = { field };
    expect(call).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", metadata, message: expect.stringMatching(message) }),
    );
  });
});

class ContextStore {
  get(): void {}
  set(): void {}
  destroy(): void {}
}

describe.each([
  ["expressSessions", expressSessions],
  ["fastifySessions", fastifySessions],
  ["fileStoreSessions", fileStoreSessions],
  ["koaSessions", koaSessions],
] as const)("%s", (_, sessions) => {
  it.each([undefined, null, "store", {}, { get() {}, set() {} }, ContextStore, { store: new ContextStore() }])(
    "refuses %j, which is no store",
    (store) => {
      const attach = () => (sessions as (store: unknown) => unknown)(store);
      expect(attach).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", metadata: { field: "store" } }));
    },
  );
});
