import { setTimeout as delay } from "node:timers/promises";
import session, { type SessionData } from "express-session";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ExpressSessionsOptions,
  expressSessions,
} from "../../../../src/adapters/sessions/express-session/index.ts";
import { Sessions } from "../../../../src/sessions/sessions.ts";
import { expectFreshSession } from "../../../support/fresh-session.ts";
import { startApplication, type TestApplication } from "./application.ts";

/** The library's own store, telling what the library asks of it. */
class ToldMemoryStore extends session.MemoryStore {
  readonly calls: string[] = [];
  override set(id: string, data: SessionData, callback?: (error?: unknown) => void): void {
    this.calls.push("set");
    super.set(id, data, callback);
  }
  override touch(id: string, data: SessionData, callback?: () => void): void {
    this.calls.push("touch");
    super.touch(id, data, callback);
  }
  override get(id: string, callback: (error: unknown, data?: SessionData | null) => void): void {
    this.calls.push("get");
    super.get(id, callback);
  }
}

let application: TestApplication | undefined;
afterEach(async () => {
  await application?.close();
  application = undefined;
});

async function start(store: session.Store, options?: ExpressSessionsOptions, cookie?: session.CookieOptions) {
  const adapter = expressSessions(store, options);
  application = await startApplication(store, cookie);
  return { adapter, sessions: new Sessions(adapter, { ids: "raw" }), browser: application.browser() };
}

describe("a visitor's session", () => {
  it("is found from the login to the logout, under the id that the cookie carries", async () => {
    const { adapter, sessions, browser } = await start(new session.MemoryStore());
    const before = Date.now();
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const found = await sessions.find(id);
    expectFreshSession(found, id, before);
    expect((await sessions.findByUsername("alice")).sessions).toEqual([found]);
    expect(adapter.remembered).toBe(1);
    await browser.post("/logout");
    expect(adapter.remembered).toBe(0);
    expect(await sessions.find(id)).toBeUndefined();
    expect((await sessions.findByUsername("alice")).sessions).toEqual([]);
  });

  it("is accessed by requests, which leave its creation time alone, and not by looking", async () => {
    const { sessions, browser } = await start(new session.MemoryStore());
    await browser.post("/login/alice");
    const first = await sessions.find(browser.sessionId!);
    await delay(5);
    expect(await sessions.find(browser.sessionId!)).toEqual(first);
    expect((await sessions.findByUsername("alice")).sessions).toEqual([first]);
    await browser.get("/");
    const touched = await sessions.find(browser.sessionId!);
    expect(touched?.creationTime).toBe(first?.creationTime);
    expect(touched?.lastAccessedTime).toBeGreaterThanOrEqual(first!.lastAccessedTime! + 4);
    await delay(5);
    await browser.post("/basket");
    const saved = await sessions.find(browser.sessionId!);
    expect(saved?.creationTime).toBe(first?.creationTime);
    expect(saved?.lastAccessedTime).toBeGreaterThanOrEqual(touched!.lastAccessedTime! + 4);
    expect(saved?.attributeNames).toEqual(["user", "basket"]);
  });

  it.each([{ rolling: true }, { resave: true }, { rolling: true, resave: true }])(
    "is accessed by each request and created once if the application sets %j",
    async (options) => {
      const store = new session.MemoryStore();
      const adapter = expressSessions(store);
      application = await startApplication(store, { maxAge: 60_000 }, undefined, options);
      const browser = application.browser();
      await browser.post("/login/alice");
      const first = await adapter.findById(browser.sessionId!);
      await delay(5);
      await browser.get("/");
      const used = await adapter.findById(browser.sessionId!);
      expect(used).toEqual({ ...first, lastAccessedTime: expect.any(Number) });
      expect(used?.lastAccessedTime).toBeGreaterThanOrEqual(first!.lastAccessedTime! + 4);
      expect(adapter.remembered).toBe(1);
    },
  );

  it("becomes another one when its id is regenerated", async () => {
    const { adapter, sessions, browser } = await start(new session.MemoryStore());
    await browser.post("/basket");
    const anonymous = browser.sessionId!;
    expect(await sessions.find(anonymous)).toMatchObject({ username: undefined, attributeNames: ["basket"] });
    await browser.post("/login/alice");
    expect(browser.sessionId).not.toBe(anonymous);
    expect(await sessions.find(anonymous)).toBeUndefined();
    expect(await sessions.find(browser.sessionId!)).toMatchObject({
      username: "alice",
      creationTime: expect.any(Number),
    });
    expect(adapter.remembered).toBe(1);
  });

  it("without a maximum age never expires, and was last accessed by the last request seen", async () => {
    const { sessions, browser } = await start(new session.MemoryStore(), {}, {});
    await browser.post("/login/alice");
    const first = await sessions.find(browser.sessionId!);
    expect(first).toMatchObject({ maxInactiveInterval: -1, expired: false, lastAccessedTime: first?.creationTime });
    await delay(5);
    await browser.get("/");
    const touched = await sessions.find(browser.sessionId!);
    expect(touched?.lastAccessedTime).toBeGreaterThanOrEqual(first!.lastAccessedTime! + 4);
  });

  it.each([
    ["listed", async (sessions: Sessions) => (await sessions.findByUsername("alice")).sessions, []],
    ["found", (sessions: Sessions, id: string) => sessions.find(id), undefined],
  ])("is not %s once the store has dropped it for its age, nor remembered", async (_, look, nothing) => {
    const { adapter, sessions, browser } = await start(new session.MemoryStore(), {}, { maxAge: 100 });
    await browser.post("/login/alice");
    expect(adapter.remembered).toBe(1);
    await expect.poll(() => look(sessions, browser.sessionId!)).toEqual(nothing);
    expect(adapter.remembered).toBe(0);
  });

  it("ends when it is deleted: the next request is anonymous", async () => {
    const { sessions, browser } = await start(new session.MemoryStore());
    await browser.post("/login/alice");
    expect(await (await browser.get("/")).json()).toEqual({ user: "alice" });
    expect(await sessions.delete(browser.sessionId!)).toBe(true);
    expect(await sessions.delete(browser.sessionId!)).toBe(false);
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
  });
});

describe("the application's store", () => {
  it("is asked nothing more because of the adapter, and an anonymous visit stores nothing", async () => {
    async function callsOf(attach: boolean): Promise<{ calls: readonly string[]; stored: number }> {
      const store = new ToldMemoryStore();
      const adapter = attach ? expressSessions(store) : undefined;
      const running = await startApplication(store);
      try {
        const browser = running.browser();
        await browser.get("/");
        await running.browser().get("/");
        const stored = await new Promise<number>((resolve) => store.length((_, length) => resolve(length!)));
        if (adapter !== undefined) expect(adapter.remembered).toBe(0);
        for (const path of ["/basket", "/login/alice", "/basket"]) await browser.post(path);
        await browser.get("/");
        await browser.post("/logout");
        return { calls: store.calls, stored };
      } finally {
        await running.close();
      }
    }
    const bare = await callsOf(false);
    expect(bare.stored).toBe(0);
    expect(bare.calls).toContain("set");
    expect(await callsOf(true)).toEqual(bare);
  });

  it("keeps of a session exactly what it would keep without the adapter", async () => {
    const store = new session.MemoryStore();
    const { browser } = await start(store);
    await browser.post("/login/alice");
    const data = await new Promise<SessionData>((resolve) =>
      store.get(browser.sessionId!, (_, found) => resolve(found!)),
    );
    expect(Object.keys(data)).toEqual(["cookie", "user"]);
  });

  it("stays the same object, has nothing enumerable added, and leaves other stores alone", () => {
    const store = new session.MemoryStore();
    const other = new session.MemoryStore();
    const names = Object.keys(store);
    expressSessions(store);
    expect(Object.keys(store)).toEqual(names);
    expect(other.set).toBe(session.MemoryStore.prototype.set);
    expect(store).toBeInstanceOf(session.MemoryStore);
  });

  it("is as it was after a detach, in whatever order adapters go", async () => {
    const store = new session.MemoryStore();
    const ownSet = store.set.bind(store);
    store.set = ownSet;
    const first = expressSessions(store);
    const second = expressSessions(store);
    application = await startApplication(store);
    const browser = application.browser();
    first.detach();
    await browser.post("/login/alice");
    expect([first.remembered, second.remembered]).toEqual([0, 1]);
    second.detach();
    await browser.post("/login/bob");
    expect([first.remembered, second.remembered]).toEqual([0, 1]);
    expect(await second.findById(browser.sessionId!)).toMatchObject({ creationTime: undefined, username: "bob" });

    const plain = new session.MemoryStore();
    expressSessions(plain).detach();
    for (const name of ["set", "touch", "destroy", "clear", "createSession"] as const) {
      expect(Object.hasOwn(plain, name), name).toBe(false);
    }
    const patched = new session.MemoryStore();
    patched.set = ownSet;
    expressSessions(patched).detach();
    expect(patched.set).toBe(ownSet);
  });

  it("passes on arguments, results and errors of its methods as they are", () => {
    class Answering extends session.MemoryStore {
      override set(...args: unknown[]): string {
        if (args[0] === "bad") throw new RangeError("bad");
        return `set ${args.join(" ")}`;
      }
    }
    const store = new Answering();
    const adapter = expressSessions(store);
    const set: (...args: unknown[]) => unknown = store.set.bind(store);
    expect(set("a", undefined, 3)).toBe("set a  3");
    expect(() => set("bad", { cookie: {} })).toThrow(RangeError);
    adapter.detach();
    expect(store.set).toBe(Answering.prototype.set);
  });
});

describe("a creation time", () => {
  it("is not invented for a session that is older than the adapter, whatever happens to it", async () => {
    const store = new session.MemoryStore();
    application = await startApplication(store);
    const browser = application.browser();
    await browser.post("/login/alice");
    const attached = Date.now();
    const adapter = expressSessions(store);
    await browser.get("/");
    await browser.post("/basket");
    const found = await adapter.findById(browser.sessionId!);
    expect(found).toMatchObject({ creationTime: undefined, username: "alice", attributeNames: ["user", "basket"] });
    expect(found?.firstSeenTime).toBeGreaterThanOrEqual(attached);
    await delay(5);
    expect((await adapter.findById(browser.sessionId!))?.firstSeenTime).toBe(found?.firstSeenTime);
    const other = application.browser();
    await other.post("/login/bob");
    expect(await adapter.findById(other.sessionId!)).toMatchObject({ creationTime: expect.any(Number) });
  });

  it("is not invented for what other code puts into the store", async () => {
    const store = new session.MemoryStore();
    const adapter = expressSessions(store);
    await new Promise((resolve) => store.set("restored", dataOf({ user: { username: "alice" } }), resolve));
    expect(await adapter.findById("restored")).toMatchObject({
      creationTime: undefined,
      firstSeenTime: expect.any(Number),
    });
  });

  it("is not invented if it was forgotten because too many sessions are remembered", async () => {
    const { adapter, browser } = await start(new session.MemoryStore(), { maxRemembered: 1 });
    await browser.post("/login/alice");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({ creationTime: expect.any(Number) });
    await application!.browser().post("/login/bob");
    await browser.post("/basket");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({ creationTime: undefined });
    expect(adapter.remembered).toBe(1);
  });

  it("is not invented if it was forgotten while a request was under way", async () => {
    const store = new session.MemoryStore();
    const adapter = expressSessions(store, { maxRemembered: 1 });
    const others = async (): Promise<unknown> => application!.browser().post("/login/bob");
    application = await startApplication(store, {}, others);
    const browser = application.browser();
    await browser.post("/login/alice");
    await browser.post("/basket");
    expect(await adapter.findById(browser.sessionId!)).toMatchObject({
      attributeNames: ["user", "basket"],
      creationTime: undefined,
    });
  });
});

describe("what is remembered", () => {
  it("does not grow with sessions that the store dropped silently", async () => {
    const store = new session.MemoryStore();
    const { adapter } = await start(store, {}, { maxAge: 1 });
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 50 }, () => application!.browser().post("/login/alice")));
    }
    expect(adapter.remembered).toBeLessThanOrEqual(2 * 256);
  });

  it("goes with the store's clear", async () => {
    const store = new session.MemoryStore();
    const { adapter, browser } = await start(store);
    await browser.post("/login/alice");
    store.clear();
    expect(adapter.remembered).toBe(0);
  });
});

describe("whose session it is", () => {
  it.each([
    [{ passport: { user: "a" }, user: { username: "b" } }, "a"],
    [{ passport: { user: { id: 1, username: "a", email: "a@b" } }, user: { username: "b" } }, "a"],
    [{ passport: { user: { id: 1, email: "a@b" } } }, "a@b"],
    [{ passport: { user: { id: 1 } }, user: { username: "b" } }, "1"],
    [{ passport: { user: { roles: [] } }, user: { username: "b" } }, "b"],
    [{ passport: { user: 42 } }, "42"],
    [{ passport: {}, user: { email: "e@example.org", name: "n" } }, "e@example.org"],
    [{ user: { name: "n" }, username: "u" }, "n"],
    [{ user: "text", username: "u" }, "text"],
    [{ user: {}, username: "u", userId: 7 }, "u"],
    [{ username: "", userId: 7 }, "7"],
    [{ userId: 0 }, "0"],
    [{ user: null, userId: true }, undefined],
    [{}, undefined],
  ])("of %j is %j", async (attributes, username) => {
    const store = new session.MemoryStore();
    const adapter = expressSessions(store);
    await new Promise((resolve) => store.set("id", dataOf(attributes), resolve));
    expect((await adapter.findById("id"))?.username).toBe(username);
  });

  it("is what the application's own resolver returns, and none if it throws", async () => {
    const store = new session.MemoryStore();
    const principal = (data: SessionData & { account?: { login: string } }): string => data.account!.login;
    const adapter = expressSessions(store, { principal });
    await new Promise((resolve) => store.set("a", dataOf({ account: { login: "alice" } }), resolve));
    await new Promise((resolve) => store.set("b", dataOf({ user: "alice" }), resolve));
    expect(await adapter.findByUsername?.("alice")).toMatchObject({ sessions: [{ id: "a" }] });
    expect((await adapter.findById("b"))?.username).toBeUndefined();
  });
});

describe("odd ids", () => {
  it.each(["__proto__", "constructor", "toString", "42", "a/b+c=="])("%j is an id like any other", async (id) => {
    const store = new session.MemoryStore();
    const sessions = new Sessions(expressSessions(store), { ids: "raw" });
    expect(await sessions.find(id)).toBeUndefined();
    expect(await sessions.delete(id)).toBe(false);
    await new Promise((resolve) => store.set(id, dataOf({ user: "alice" }), resolve));
    expect((await sessions.findByUsername("alice")).sessions).toMatchObject([{ id, username: "alice" }]);
    expect(await sessions.delete(id)).toBe(true);
    expect(await sessions.find(id)).toBeUndefined();
  });
});

function dataOf(attributes: object, maxAge = 60_000): SessionData {
  const cookie = { originalMaxAge: maxAge, expires: new Date(Date.now() + maxAge), path: "/", httpOnly: true };
  return { cookie, ...attributes } as unknown as SessionData;
}
