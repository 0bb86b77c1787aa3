import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifySessionOptions } from "@fastify/session";
import connectPgSimple from "connect-pg-simple";
import { RedisStore } from "connect-redis";
import { RedisStore as RedisStore9 } from "connect-redis9";
import session from "express-session";
import pg from "pg";
import { createClient } from "redis";
import fileStore from "session-file-store";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectPgSimpleSessions } from "../../../../src/adapters/sessions/connect-pg-simple/index.ts";
import { connectRedisSessions } from "../../../../src/adapters/sessions/connect-redis/index.ts";
import { fileStoreSessions } from "../../../../src/adapters/sessions/session-file-store/index.ts";
import type { SessionStore } from "../../../../src/sessions/store.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { startApplication } from "./application.ts";

type FastifyStore = NonNullable<FastifySessionOptions["store"]>;
type Made = { readonly store: FastifyStore; readonly adapter: SessionStore };

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** What holds for @fastify/session over each store of the connect family, by the adapter of that store. */
function managing(make: () => Promise<Made>): void {
  async function start(beforeBasket?: () => Promise<unknown>) {
    const { store, adapter } = await make();
    ends.push(() => adapter.detach?.());
    const app = await startApplication({ store, cookie: { maxAge: 60_000 } }, beforeBasket);
    ends.push(() => app.close());
    return { adapter, browser: app.browser() };
  }

  it("shows a session from the login to the logout", async () => {
    const { adapter, browser } = await start();
    const before = Date.now();
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const found = await adapter.findById(id);
    expect(found).toMatchObject({ id, attributeNames: ["user"], maxInactiveInterval: 60, username: "alice" });
    expect(found!.creationTime).toBeGreaterThanOrEqual(before - 1000);
    await delay(5);
    await browser.post("/basket");
    expect(await adapter.findById(id)).toMatchObject({
      attributeNames: ["user", "basket"],
      creationTime: found!.creationTime,
    });
    await expect
      .poll(async () => (await adapter.findByUsername!("alice")).sessions)
      .toMatchObject([{ id, username: "alice" }]);
    await browser.post("/become/bob");
    await expect.poll(async () => (await adapter.findByUsername!("bob")).sessions).toMatchObject([{ id }]);
    expect((await adapter.findByUsername!("alice")).sessions).toEqual([]);
    await browser.post("/logout");
    expect(await adapter.findById(id)).toBeUndefined();
    expect((await adapter.findByUsername!("bob")).sessions).toEqual([]);
  });

  it("ends a session, which a slow request does not bring back", async () => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const { adapter, browser } = await start(() => {
      begun.resolve();
      return answer.promise;
    });
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const slow = browser.post("/basket");
    await begun.promise;
    expect(await adapter.delete!(id)).toBe(true);
    answer.resolve();
    expect((await slow).status).toBe(200);
    expect(await adapter.findById(id)).toBeUndefined();
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
  });
}

describe("session-file-store under @fastify/session", () => {
  managing(async () => {
    const path = await mkdtemp(join(tmpdir(), "session-files-"));
    ends.push(() => rm(path, { recursive: true, force: true }));
    const FileStore = fileStore(session as never);
    const store = new FileStore({ path, reapInterval: -1, logFn: () => {} });
    return { store: store as FastifyStore, adapter: fileStoreSessions(store) };
  });
});

describe.runIf(requirement("redis-server", redisFound))("connect-redis under @fastify/session", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  describe.each([
    ["10", RedisStore],
    ["9", RedisStore9],
  ])("version %s", (_, Store) => {
    managing(async () => {
      await server.command("FLUSHALL");
      const client = createClient({ url: server.url });
      await client.connect();
      ends.push(() => client.close());
      const store = new Store({ client }) as RedisStore;
      return { store: store as FastifyStore, adapter: connectRedisSessions(store) };
    });
  });
});

describe.runIf(requirement("postgresql", postgresFound))("connect-pg-simple under @fastify/session", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  managing(async () => {
    await server.query("DROP TABLE IF EXISTS session");
    const pool = new pg.Pool({ connectionString: server.url });
    ends.push(() => pool.end());
    const PgStore = connectPgSimple(session);
    const store = new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false });
    return { store: store as FastifyStore, adapter: connectPgSimpleSessions(store) };
  });
});
