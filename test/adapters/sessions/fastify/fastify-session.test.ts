import { setTimeout as delay } from "node:timers/promises";
import fastifySession, { type FastifySessionOptions } from "@fastify/session";
import session from "express-session";
import memorystore from "memorystore";
import { afterEach, describe, expect, it } from "vitest";
import { watchStore } from "../../../../src/adapters/kit/connect-session/watch.ts";
import {
  type ConnectStore,
  type FastifySessionsOptions,
  fastifySessions,
} from "../../../../src/adapters/sessions/fastify/index.ts";
import { expectFreshSession } from "../../../support/fresh-session.ts";
import { startApplication, type TestApplication } from "./application.ts";

const Memorystore = memorystore(session);
const stores: readonly (readonly [string, () => FastifyStore])[] = [
  ["the library's memory store", () => new fastifySession.MemoryStore(new Map())],
  ["express-session's MemoryStore", () => new session.MemoryStore() as FastifyStore],
  ["memorystore", () => new Memorystore({}) as FastifyStore],
];

type FastifyStore = NonNullable<FastifySessionOptions["store"]>;

let application: TestApplication | undefined;
afterEach(async () => {
  await application?.close();
  application = undefined;
});

async function start(
  store: FastifyStore,
  options: Partial<FastifySessionOptions> = {},
  reading?: FastifySessionsOptions,
  beforeBasket?: () => Promise<unknown>,
) {
  const adapter = fastifySessions(store, reading);
  application = await startApplication({ store, cookie: { maxAge: 60_000 }, ...options }, beforeBasket);
  return { adapter, browser: application.browser() };
}

describe.each(stores)("a visitor's session in %s", (_, make) => {
  it("is found from the login to the logout, under the id that the cookie carries", async () => {
    const { adapter, browser } = await start(make());
    const before = Date.now();
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const found = await adapter.findById(id);
    expectFreshSession(found, id, before);
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [found], partial: false });
    expect(await adapter.list!({ limit: 9 })).toEqual({ sessions: [found], partial: false, next: undefined });
    expect(await adapter.count!({ active: true })).toBe(1);
    await browser.post("/logout");
    expect(await adapter.findById(id)).toBeUndefined();
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [], partial: false });
    expect(adapter.remembered).toBe(0);
  });

  it("keeps its creation time over requests, each of which is an access, unlike looking", async () => {
    const { adapter, browser } = await start(make());
    await browser.post("/login/alice");
    let last = (await adapter.findById(browser.sessionId!))!;
    for (const send of [() => browser.get("/"), () => browser.post("/basket"), () => browser.get("/")]) {
      await delay(5);
      expect(await adapter.findById(browser.sessionId!)).toEqual(last);
      await send();
      const found = (await adapter.findById(browser.sessionId!))!;
      expect(found.creationTime).toBe(last.creationTime);
      expect(found.lastAccessedTime).toBeGreaterThanOrEqual(last.lastAccessedTime! + 4);
      last = found;
    }
  });

  it("moves to the next user, and becomes another one when its id is regenerated", async () => {
    const { adapter, browser } = await start(make());
    await browser.post("/login/alice");
    const first = (await adapter.findById(browser.sessionId!))!;
    await browser.post("/become/bob");
    expect((await adapter.findByUsername!("alice")).sessions).toEqual([]);
    expect((await adapter.findByUsername!("bob")).sessions).toMatchObject([
      { id: first.id, creationTime: first.creationTime },
    ]);
    await delay(5);
    await browser.post("/login/carol");
    expect(browser.sessionId).not.toBe(first.id);
    expect(await adapter.findById(first.id)).toBeUndefined();
    const carols = (await adapter.findById(browser.sessionId!))!;
    expect(carols.creationTime).toBeGreaterThan(first.creationTime!);
    expect(adapter.remembered).toBe(1);
  });

  it("has no creation time if it is older than the adapter", async () => {
    const store = make();
    application = await startApplication({ store, cookie: { maxAge: 60_000 } });
    const browser = application.browser();
    await browser.post("/login/alice");
    const adapter = fastifySessions(store);
    await browser.get("/");
    await browser.post("/basket");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({ creationTime: undefined, username: "alice" });
  });

  it("is not brought back by a slow request after it was ended", async () => {
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const { adapter, browser } = await start(make(), {}, {}, () => {
      begun.resolve();
      return answer.promise;
    });
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const slow = browser.post("/basket");
    await begun.promise;
    expect(await adapter.delete!(id)).toBe(true);
    expect(await adapter.delete!(id)).toBe(false);
    answer.resolve();
    expect((await slow).status).toBe(200);
    expect(await adapter.findById(id)).toBeUndefined();
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
  });

  it("is saved as often as without the adapter, and an anonymous visit stores nothing", async () => {
    async function savesOf(attach: boolean): Promise<number> {
      const store = make();
      let saves = 0;
      const set = store.set;
      store.set = function (this: FastifyStore, ...args: Parameters<FastifyStore["set"]>) {
        saves++;
        return set.apply(this, args);
      };
      const adapter = attach ? fastifySessions(store) : undefined;
      const running = await startApplication({ store, cookie: { maxAge: 60_000 }, rolling: false });
      try {
        const browser = running.browser();
        await browser.get("/");
        expect([saves, adapter?.remembered ?? 0]).toEqual([0, 0]);
        for (const path of ["/basket", "/login/alice", "/basket", "/become/bob"]) await browser.post(path);
        await browser.get("/");
        await browser.post("/logout");
        return saves;
      } finally {
        await running.close();
      }
    }
    const bare = await savesOf(false);
    expect(bare).toBeGreaterThan(3);
    expect(await savesOf(true)).toBe(bare);
  });
});

describe("a watcher", () => {
  it("is called once when a session is made, and for each request that loads it", async () => {
    const told: string[] = [];
    const ids: string[] = [];
    const store = new fastifySession.MemoryStore();
    watchStore(store, {
      saved: (id, _, made) => {
        if (!ids.includes(id)) ids.push(id);
        told.push(`saved ${ids.indexOf(id)}${made ? " made" : ""}`);
      },
      used: () => told.push("used"),
      loaded: (id) => told.push(`loaded ${ids.indexOf(id)}`),
      ended: (id) => told.push(`ended ${ids.indexOf(id)}`),
      cleared: () => told.push("cleared"),
    });
    application = await startApplication({ store, cookie: { maxAge: 60_000 } });
    const browser = application.browser();
    for (const path of ["/basket", "/basket", "/login/alice", "/logout"]) await browser.post(path);
    expect(told).toEqual([
      "saved 0 made",
      ...["loaded 0", "saved 0"],
      ...["loaded 0", "ended 0", "saved 1 made", "saved 1"],
      ...["loaded 1", "ended 1"],
    ]);
  });
});

describe("a session without a maximum age", () => {
  it("never expires, and was last accessed by the last request seen", async () => {
    const { adapter, browser } = await start(new fastifySession.MemoryStore(), { cookie: {} });
    await browser.post("/login/alice");
    const first = (await adapter.findById(browser.sessionId!))!;
    expect(first).toMatchObject({ maxInactiveInterval: -1, expired: false });
    await delay(5);
    await browser.get("/");
    const used = await adapter.findById(browser.sessionId!);
    expect(used).toMatchObject({ creationTime: first.creationTime });
    expect(used!.lastAccessedTime).toBeGreaterThanOrEqual(first.lastAccessedTime! + 4);
  });
});

describe("the memory store", () => {
  it("keeps what has expired, which is shown as such", async () => {
    const { adapter, browser } = await start(new fastifySession.MemoryStore(), { cookie: { maxAge: 20 } });
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    await expect.poll(() => adapter.findById(id)).toMatchObject({ expired: true, username: "alice" });
    expect(await adapter.list!({ limit: 9, active: false })).toMatchObject({ sessions: [{ id, expired: true }] });
    expect(await adapter.count!({ active: true })).toBe(0);
    expect(await adapter.delete!(id)).toBe(true);
    expect(await adapter.findById(id)).toBeUndefined();
  });

  it("is as it was after a detach", () => {
    const store = new fastifySession.MemoryStore();
    const names = Object.getOwnPropertyNames(store);
    const [first, second] = [fastifySessions(store), fastifySessions(store)];
    first.detach();
    second.detach();
    expect(Object.getOwnPropertyNames(store)).toEqual(names);
  });
});

describe("a store that cannot list", () => {
  it("finds and deletes by id, and says why it does no more", async () => {
    const sessions = new Map<string, object>();
    const store: ConnectStore = {
      get: (id, callback) => callback(null, sessions.get(id)),
      set: (id, record, callback) => {
        sessions.set(id, record);
        callback?.();
      },
      destroy: (id, callback) => {
        sessions.delete(id);
        callback?.();
      },
    };
    const { adapter, browser } = await start(store as FastifyStore);
    await browser.post("/login/alice");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({
      username: "alice",
      creationTime: expect.any(Number),
    });
    expect([adapter.findByUsername, adapter.list, adapter.count]).toEqual([undefined, undefined, undefined]);
    expect(adapter.limits).toEqual({
      findByUsername: expect.stringContaining("no"),
      list: expect.stringContaining("`all`"),
    });
    expect(await adapter.delete!(browser.sessionId!)).toBe(true);
  });
});
