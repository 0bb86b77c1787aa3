import session, { type SessionData, type Store } from "express-session";
import memorystore from "memorystore";
import { afterEach, describe, expect, it } from "vitest";
import { type ExpressSessions, expressSessions } from "../../../../src/adapters/sessions/express-session/index.ts";
import { Sessions } from "../../../../src/sessions/sessions.ts";
import { startApplication, type TestApplication } from "./application.ts";

const Memorystore = memorystore(session);
const stores: readonly (readonly [string, () => Store])[] = [
  ["MemoryStore", () => new session.MemoryStore()],
  ["memorystore", () => new Memorystore({})],
];

let application: TestApplication | undefined;
afterEach(async () => {
  await application?.close();
  application = undefined;
});

function set(store: Store, id: string, attributes: object, maxAge: number | null = 60_000, now = Date.now()) {
  const expires = maxAge === null ? null : new Date(now + maxAge);
  const data = { cookie: { originalMaxAge: maxAge, expires, maxAge }, ...attributes } as unknown as SessionData;
  return new Promise<void>((resolve, reject) => store.set(id, data, (error) => (error ? reject(error) : resolve())));
}

async function listed(adapter: ExpressSessions, limit: number, active?: boolean): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = await adapter.list!({ limit, after, active });
    expect(page.partial).toBe(false);
    pages.push(page.sessions.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  return pages;
}

describe.each(stores)("a list of %s", (_, make) => {
  it("shows the logged-in sessions, most recently active first", async () => {
    const store = make();
    const adapter = expressSessions(store);
    application = await startApplication(store);
    const browsers = [];
    for (const user of ["alice", "bob", "carol"]) {
      const browser = application.browser();
      await browser.post(`/login/${user}`);
      browsers.push(browser);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    await application.browser().get("/");
    await browsers[0]!.get("/");
    const ids = [browsers[0]!, browsers[2]!, browsers[1]!].map(({ sessionId }) => sessionId);
    expect(await listed(adapter, 2)).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(await adapter.list!({ limit: 9 })).toMatchObject({
      sessions: [{ username: "alice", attributeNames: ["user"], expired: false }, { username: "carol" }, {}],
      next: undefined,
    });
    expect(await adapter.count!({})).toBe(3);
  });

  it("has the same order in each of its pages, by access and then by id", async () => {
    const store = make();
    const adapter = expressSessions(store);
    const now = Date.now();
    for (const [id, ago] of [
      ["b", 0],
      ["d", 1000],
      ["a", 0],
      ["c", 2000],
    ] as const) {
      await set(store, id, {}, 60_000, now - ago);
    }
    expect(await listed(adapter, 1)).toEqual([["a"], ["b"], ["d"], ["c"]]);
    expect(await listed(adapter, 3)).toEqual([["a", "b", "d"], ["c"]]);
    expect(await listed(adapter, 4)).toEqual([["a", "b", "d", "c"]]);
  });

  it("continues where it was when sessions end between two pages", async () => {
    const store = make();
    const adapter = expressSessions(store);
    const now = Date.now();
    for (const [index, id] of ["a", "b", "c", "d"].entries()) await set(store, id, {}, 60_000, now - index);
    const { next } = await adapter.list!({ limit: 2 });
    for (const id of ["a", "b", "c"]) await adapter.delete!(id);
    expect((await adapter.list!({ limit: 2, after: next })).sessions.map(({ id }) => id)).toEqual(["d"]);
  });

  it("takes sessions without a maximum age by their last use, which stays the same from list to list", async () => {
    const store = make();
    const adapter = expressSessions(store);
    await set(store, "a", {}, null);
    await new Promise((resolve) => setTimeout(resolve, 3));
    await set(store, "b", {}, null);
    const first = await adapter.list!({ limit: 9 });
    expect(first.sessions.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(await adapter.list!({ limit: 9 })).toEqual(first);
  });

  it("finds, lists and counts 10,000 sessions", async () => {
    const store = make();
    const adapter = expressSessions(store, { scan: { maxMs: 60_000 } });
    const now = Date.now();
    for (let i = 0; i < 10_000; i++) await set(store, `id-${i}`, { user: `user-${i % 2500}` }, 600_000, now - (i % 77));
    const found = await adapter.findByUsername!("user-7");
    expect(found.partial).toBe(false);
    expect(found.sessions.map(({ id }) => id).sort()).toEqual(["id-2507", "id-5007", "id-7", "id-7507"]);
    const ids = (await listed(adapter, 1000)).flat();
    expect([ids.length, new Set(ids).size]).toEqual([10_000, 10_000]);
    expect(await adapter.count!({ active: true })).toBe(10_000);
  });

  it("is partial if the bounds cut it off, and returns no count rather than one too low", async () => {
    const store = make();
    const adapter = expressSessions(store, { scan: { maxSessions: 2 } });
    for (const id of ["a", "b", "c"]) await set(store, id, { user: "alice" });
    expect((await adapter.findByUsername!("alice")).partial).toBe(true);
    expect((await adapter.list!({ limit: 9 })).partial).toBe(true);
    expect(await adapter.count!({})).toBeUndefined();
  });

  it("leads from the id that another process showed to the session", async () => {
    const store = make();
    const adapter = expressSessions(store);
    for (let i = 0; i < 300; i++) await set(store, `id-${i}`, { user: `user-${i}` });
    const options = { idKey: "a key of this test" };
    const { sessions } = await new Sessions(adapter, options).findByUsername("user-250");
    const elsewhere = new Sessions(adapter, options);
    expect(sessions[0]?.id).not.toBe("id-250");
    expect(await elsewhere.find(sessions[0]!.id)).toEqual(sessions[0]);
    expect(await elsewhere.delete(sessions[0]!.id)).toBe(true);
    expect(await adapter.findById("id-250")).toBeUndefined();
  });

  it("is not shown what the store has dropped for its age", async () => {
    const store = make();
    const adapter = expressSessions(store);
    await set(store, "old", {}, 1);
    await set(store, "new", {});
    await expect.poll(() => listed(adapter, 9)).toEqual([["new"]]);
    expect(await listed(adapter, 9, false)).toEqual([[]]);
    expect(await adapter.count!({ active: false })).toBe(0);
  });
});

describe("a store that keeps what has expired", () => {
  it("lists and counts by whether it has", async () => {
    class Keeping extends session.MemoryStore {
      override all(callback: (error: unknown, all?: Record<string, SessionData>) => void): void {
        const all = [1, 60_000].map((maxAge, index) => {
          const expires = new Date(Date.now() + (index === 0 ? -1 : maxAge)).toISOString();
          return [index === 0 ? "old" : "new", { cookie: { originalMaxAge: maxAge, expires } }];
        });
        callback(null, Object.fromEntries(all));
      }
    }
    const adapter = expressSessions(new Keeping());
    expect(await listed(adapter, 9)).toEqual([["new", "old"]]);
    expect(await listed(adapter, 9, true)).toEqual([["new"]]);
    expect(await listed(adapter, 9, false)).toEqual([["old"]]);
    expect(await Promise.all([undefined, true, false].map((active) => adapter.count!({ active })))).toEqual([2, 1, 1]);
  });
});

describe("memorystore", () => {
  it("does not take being looked at for a use: it still drops what requests used least recently", async () => {
    const store = new Memorystore({ max: 2 });
    const adapter = expressSessions(store);
    await set(store, "a", { user: "alice" });
    await set(store, "b", { user: "alice" });
    expect(await adapter.findById("a")).toMatchObject({ username: "alice" });
    expect((await adapter.findByUsername!("alice")).sessions).toHaveLength(2);
    await adapter.list!({ limit: 1 });
    await set(store, "c", { user: "alice" });
    expect(await adapter.findById("a")).toBeUndefined();
    expect((await adapter.findByUsername!("alice")).sessions.map(({ id }) => id).sort()).toEqual(["b", "c"]);
  });

  it.each([
    [{}, 60_000, 60],
    [{}, null, 86_400],
    [{ ttl: 7000 }, 60_000, 7],
    [{ ttl: 7000 }, null, 7],
  ])("of %j keeps a session of the maximum age %s for %i seconds", async (options, maxAge, interval) => {
    const store = new Memorystore(options);
    const adapter = expressSessions(store);
    await set(store, "a", {}, maxAge);
    expect(await adapter.findById("a")).toMatchObject({ maxInactiveInterval: interval, expired: false });
  });

  it("drops as it does by itself", async () => {
    const store = new Memorystore({ ttl: 5 });
    const adapter = expressSessions(store);
    await set(store, "a", { user: "alice" }, null);
    await expect.poll(() => adapter.findById("a")).toBeUndefined();
    expect(adapter.remembered).toBe(0);
  });
});
