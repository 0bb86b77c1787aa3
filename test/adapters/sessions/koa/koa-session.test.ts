import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type KoaSessions,
  type KoaSessionsOptions,
  type KoaStore,
  koaSessions,
} from "../../../../src/adapters/sessions/koa/index.ts";
import { sessionDigest } from "../../../../src/sessions/session-id.ts";
import { expectFreshSession } from "../../../support/fresh-session.ts";
import { type RedisServer, redisFound, startRedis } from "../../../support/redis-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { JsonStore, startApplication, type TestApplication, type TestOptions } from "./application.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(store: KoaStore, options?: KoaSessionsOptions, application?: TestOptions) {
  const adapter = koaSessions(store, options);
  ends.push(() => adapter.detach());
  const app = await startApplication(store, application);
  ends.push(() => app.close());
  return { adapter, app, browser: app.browser() };
}

async function listed(adapter: KoaSessions, limit: number): Promise<(string | undefined)[]> {
  const users: (string | undefined)[] = [];
  let after: string | undefined;
  do {
    const page = await adapter.list!({ limit, after });
    users.push(...page.sessions.map(({ username }) => username));
    after = page.next;
  } while (after !== undefined);
  return users;
}

async function login(app: TestApplication, user: string) {
  const browser = app.browser();
  await browser.post(`/login/${user}`);
  return browser;
}

/** What holds wherever it is kept by what sessions are found. */
function finding(options: () => Promise<KoaSessionsOptions>, partial: boolean): void {
  it("finds a visitor's session from the login to the logout, under the id that the cookie carries", async () => {
    const { adapter, browser } = await start(new JsonStore(), await options());
    const before = Date.now();
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const found = await adapter.findById(id);
    expectFreshSession(found, id, before);
    await expect.poll(() => adapter.findByUsername!("alice")).toEqual({ sessions: [found], partial });
    expect(await adapter.list!({ limit: 9 })).toEqual({ sessions: [found], partial, next: undefined });
    expect(await adapter.findIdByDigest!(sessionDigest(id))).toBe(id);
    await browser.post("/logout");
    expect(await adapter.findById(id)).toBeUndefined();
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [], partial });
  });

  it("keeps a creation time over saves, and moves to the next user", async () => {
    const { adapter, browser } = await start(new JsonStore(), await options());
    await browser.post("/login/alice");
    const first = (await adapter.findById(browser.sessionId!))!;
    await delay(5);
    await browser.get("/");
    expect(await adapter.findById(browser.sessionId!)).toEqual(first);
    await browser.post("/become/bob");
    const bobs = (await adapter.findById(browser.sessionId!))!;
    expect(bobs).toMatchObject({ id: first.id, creationTime: first.creationTime, username: "bob" });
    expect(bobs.lastAccessedTime).toBeGreaterThanOrEqual(first.lastAccessedTime! + 4);
    expect((await adapter.findByUsername!("alice")).sessions).toEqual([]);
    expect((await adapter.findByUsername!("bob")).sessions).toEqual([bobs]);
    await browser.post("/login/carol");
    expect(await adapter.findById(first.id)).toBeUndefined();
    expect((await adapter.findByUsername!("bob")).sessions).toEqual([]);
    expect((await adapter.findByUsername!("carol")).sessions).toMatchObject([{ id: browser.sessionId }]);
  });

  it("does not believe what it remembers: the store is what counts", async () => {
    const store = new JsonStore();
    const { adapter, app } = await start(store, await options());
    const [alice, bob] = [await login(app, "alice"), await login(app, "bob")];
    await expect.poll(() => listed(adapter, 9)).toHaveLength(2);
    const text = store.texts.get(alice.sessionId!)!;
    store.texts.set(alice.sessionId!, text.replace("alice", "carol"));
    store.texts.delete(bob.sessionId!);
    for (const user of ["alice", "bob"]) expect((await adapter.findByUsername!(user)).sessions).toEqual([]);
    expect(await listed(adapter, 9)).toEqual(["carol"]);
    await expect.poll(() => adapter.findByUsername!("carol")).toMatchObject({ sessions: [{ id: alice.sessionId }] });
  });

  it("finds a session that was searched for while it was being saved", async () => {
    const store = new JsonStore();
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const set = store.set.bind(store);
    store.set = async (...args: Parameters<typeof set>) => {
      begin();
      await written;
      await set(...args);
    };
    const { adapter, browser } = await start(store, await options());
    const login = browser.post("/become/alice");
    await begun;
    await expect
      .poll(async () => {
        await adapter.list!({ limit: 9 });
        return store.calls;
      })
      .toContain("get");
    expect(await adapter.findByUsername!("alice")).toMatchObject({ sessions: [] });
    write();
    await login;
    const found = await adapter.findByUsername!("alice");
    expect(found.sessions.map(({ id }) => id)).toEqual([browser.sessionId]);
  });

  it("lists by the last save, newest first, in pages", async () => {
    const { adapter, app } = await start(new JsonStore(), await options());
    const browsers = [];
    for (const user of ["alice", "bob", "carol"]) {
      browsers.push(await login(app, user));
      await delay(3);
    }
    await browsers[0]!.post("/basket");
    for (const limit of [1, 2, 3, 9]) {
      await expect.poll(() => listed(adapter, limit)).toEqual(["alice", "carol", "bob"]);
    }
  });

  it("ends a session, which a slow request does not bring back", async () => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const store = new JsonStore();
    const beforeBasket = () => {
      begun.resolve();
      return answer.promise;
    };
    const { adapter, browser } = await start(store, await options(), { beforeBasket });
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const slow = browser.post("/basket");
    await begun.promise;
    expect(await adapter.delete!(id)).toBe(true);
    expect(await adapter.delete!(id)).toBe(false);
    answer.resolve();
    expect((await slow).status).toBe(200);
    expect(store.texts.size).toBe(0);
    expect((await adapter.findByUsername!("alice")).sessions).toEqual([]);
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
  });

  it("shows as expired what the store still keeps", async () => {
    const { adapter, browser } = await start(new JsonStore(), await options(), { maxAge: 20 });
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    await expect.poll(() => adapter.findById(id)).toMatchObject({ expired: true, username: "alice" });
    expect((await adapter.list!({ limit: 9, active: false })).sessions).toMatchObject([{ id }]);
    expect((await adapter.list!({ limit: 9, active: true })).sessions).toEqual([]);
  });

  it("knows of a session for as long as the browser lives that it never expires, and not when it was used", async () => {
    const { adapter, browser } = await start(new JsonStore(), await options(), { maxAge: "session" });
    // Not by a login: a session that is saved twice in a request is given a day by the library.
    await browser.post("/become/alice");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({
      attributeNames: ["user"],
      maxInactiveInterval: -1,
      expired: false,
      lastAccessedTime: undefined,
      creationTime: expect.any(Number),
    });
    expect((await adapter.findByUsername!("alice")).sessions).toHaveLength(1);
  });

  it("gives no creation time to a session that is older than the adapter, and the same first sight each time", async () => {
    const store = new JsonStore();
    const app = await startApplication(store);
    ends.push(() => app.close());
    const browser = await login(app, "alice");
    const adapter = koaSessions(store, await options());
    ends.push(() => adapter.detach());
    await browser.post("/basket");
    const found = await adapter.findById(browser.sessionId!);
    expect(found).toMatchObject({ creationTime: undefined, username: "alice", attributeNames: ["user", "basket"] });
    await delay(3);
    expect(await adapter.findById(browser.sessionId!)).toEqual(found);
    expect((await adapter.findByUsername!("alice")).sessions).toEqual([found]);
  });
}

describe("without an index", () => {
  finding(async () => ({}), true);

  it("forgets the session saved longest ago if there are too many", async () => {
    const { adapter, app } = await start(new JsonStore(), { maxRemembered: 2 });
    for (const user of ["alice", "bob", "carol"]) await login(app, user);
    // Saved in the same millisecond, the two have no order.
    expect((await listed(adapter, 9)).sort()).toEqual(["bob", "carol"]);
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [], partial: true });
  });

  it("finds and lists 10,000 sessions", async () => {
    const store = new JsonStore();
    const { adapter } = await start(store, { scan: { maxMs: 60_000 } });
    for (let i = 0; i < 10_000; i++) {
      const data = { user: `user-${i % 2500}`, _maxAge: 60_000, _expire: Date.now() + 60_000 - (i % 77) };
      await (store as KoaStore).set(`id-${i}`, data, 60_000, { rolling: false, changed: true });
    }
    expect((await adapter.findByUsername!("user-7")).sessions).toHaveLength(4);
    expect(await listed(adapter, 1000)).toHaveLength(10_000);
  });
});

describe("the application's store", () => {
  it("is asked nothing more because of the adapter, and an anonymous visit stores nothing", async () => {
    async function callsOf(attach: boolean): Promise<readonly string[]> {
      const store = new JsonStore();
      const adapter = attach ? koaSessions(store) : undefined;
      const app = await startApplication(store, { rolling: true });
      try {
        const browser = app.browser();
        await browser.get("/");
        expect(store.texts.size).toBe(0);
        for (const path of ["/basket", "/login/alice", "/become/bob"]) await browser.post(path);
        await browser.get("/");
        await browser.post("/logout");
        return store.calls;
      } finally {
        await app.close();
        await adapter?.detach();
      }
    }
    const bare = await callsOf(false);
    expect(bare).toContain("set");
    expect(await callsOf(true)).toEqual(bare);
  });

  it("is as it was when all adapters have gone, in whatever order", async () => {
    const store = new JsonStore();
    const names = Object.getOwnPropertyNames(store);
    const [first, second] = [koaSessions(store), koaSessions(store)];
    await first.detach();
    const app = await startApplication(store);
    ends.push(() => app.close());
    await login(app, "alice");
    expect((await first.findByUsername!("alice")).sessions).toEqual([]);
    expect((await second.findByUsername!("alice")).sessions).toHaveLength(1);
    await second.detach();
    expect(Object.getOwnPropertyNames(store)).toEqual(names);
  });

  it("that fails is UNAVAILABLE, without its text", async () => {
    const store = new JsonStore();
    const down = new Error("connect ECONNREFUSED 10.0.0.1:6379");
    store.get = () => Promise.reject(down);
    const adapter = koaSessions(store, { timeoutMs: 50 });
    const failed = adapter.findById("a");
    await expect(failed).rejects.toMatchObject({ code: "UNAVAILABLE", cause: down });
    await expect(failed).rejects.not.toThrow(/ECONNREFUSED/);
    store.get = () => new Promise(() => {});
    await expect(adapter.delete!("a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe.runIf(requirement("redis-server", redisFound))("with an index in Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  async function index(complete = true): Promise<KoaSessionsOptions> {
    await server.command("FLUSHALL");
    return { index: { redis: server.url, complete } };
  }

  finding(index, false);

  it("is partial until the application says that it is complete", async () => {
    const { adapter, app } = await start(new JsonStore(), await index(false));
    await login(app, "alice");
    expect(await adapter.findByUsername!("alice")).toMatchObject({ sessions: [{ username: "alice" }], partial: true });
    expect(await adapter.list!({ limit: 9 })).toMatchObject({ partial: true });
  });

  it("finds in one instance what another saved, and survives both", async () => {
    const store = new JsonStore();
    const elsewhere = Object.assign(Object.create(JsonStore.prototype), { texts: store.texts, calls: [] }) as JsonStore;
    const options = await index();
    const { app, browser } = await start(store, options);
    await browser.post("/login/alice");
    await login(app, "bob");
    const other = koaSessions(elsewhere, options);
    const found = (await other.findByUsername!("alice")).sessions;
    expect(found).toMatchObject([{ id: browser.sessionId, creationTime: expect.any(Number) }]);
    expect((await listed(other, 1)).sort()).toEqual(["alice", "bob"]);
    await other.detach();
    const later = koaSessions(elsewhere, options);
    ends.push(() => later.detach());
    expect((await later.findByUsername!("alice")).sessions).toEqual(found);
  });

  it.each(["request", "save"])("does not let a slow %s in one instance bring back what another ended", async (slow) => {
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const wait = () => {
      begun.resolve();
      return answer.promise;
    };
    let beforeSet = async () => {};
    class SlowStore extends JsonStore {
      override async set(key: string, session: object): Promise<void> {
        await beforeSet();
        return super.set(key, session);
      }
    }
    const store = new SlowStore();
    const elsewhere = Object.assign(Object.create(JsonStore.prototype), { texts: store.texts, calls: [] }) as JsonStore;
    const options = await index();
    const { browser } = await start(store, options, slow === "request" ? { beforeBasket: wait } : {});
    const other = koaSessions(elsewhere, options);
    ends.push(() => other.detach());
    await browser.post("/login/alice");
    // The login's own write of the index is on its way still.
    await expect.poll(() => other.findByUsername!("alice")).toMatchObject({ sessions: [{}] });
    if (slow === "save") beforeSet = wait;
    const basket = browser.post("/basket");
    await begun.promise;
    // Meanwhile the index is written.
    for (let looks = 0; looks < 5; looks++) await other.findByUsername!("alice");
    expect(await other.delete!(browser.sessionId!)).toBe(true);
    answer.resolve();
    await basket;
    await expect.poll(() => store.texts.size).toBe(0);
    await expect.poll(() => other.findByUsername!("alice")).toMatchObject({ sessions: [] });
  });

  it("is no trouble of the application's while it is away, and partial for what it missed", async () => {
    const own = await startRedis();
    ends.push(() => own.stop());
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const { adapter, app } = await start(new JsonStore(), {
      index: { redis: own.url, complete: true },
      timeoutMs: 2_000,
    });
    await login(app, "alice");
    expect((await adapter.findByUsername!("alice")).partial).toBe(false);
    await own.kill();
    const bob = await login(app, "bob");
    expect(await (await bob.get("/")).json()).toEqual({ user: "bob" });
    await expect(adapter.findByUsername!("bob")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await own.restart();
    await expect
      .poll(() => adapter.findByUsername!("alice").catch(() => undefined))
      .toMatchObject({
        sessions: [{ username: "alice" }],
        partial: true,
      });
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("takes the application's own client, which stays open", async () => {
    const client = createClient({ url: server.url });
    await client.connect();
    ends.push(() => client.close());
    await index();
    const { adapter, app } = await start(new JsonStore(), { index: { redis: client, prefix: "own:" } });
    await login(app, "alice");
    await expect.poll(() => client.exists("own:accessed")).toBe(1);
    await adapter.detach();
    expect(await client.ping()).toBe("PONG");
  });
});
