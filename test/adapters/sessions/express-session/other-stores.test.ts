import session, { type SessionData, Store } from "express-session";
import { describe, expect, it } from "vitest";
import { expressSessions } from "../../../../src/adapters/sessions/express-session/index.ts";
import { Sessions } from "../../../../src/sessions/sessions.ts";

type Callback<T> = (error?: unknown, result?: T) => void;

/** A store with what express-session asks for and no more. */
class SmallStore extends Store {
  readonly data = new Map<string, string>();
  override get(id: string, callback: Callback<SessionData | null>): void {
    const json = this.data.get(id);
    callback(null, json === undefined ? null : JSON.parse(json));
  }
  override set(id: string, data: SessionData, callback?: Callback<never>): void {
    this.data.set(id, JSON.stringify(data));
    callback?.();
  }
  override destroy(id: string, callback?: Callback<never>): void {
    this.data.delete(id);
    callback?.();
  }
}

const DATA = { cookie: { originalMaxAge: null, expires: null }, user: "alice" } as unknown as SessionData;

describe("a store without all", () => {
  it("finds by id and deletes, and says why it cannot search by user", async () => {
    const store = new SmallStore();
    const adapter = expressSessions(store);
    const sessions = new Sessions(adapter, { ids: "raw" });
    store.set("a", DATA);
    expect(await sessions.find("a")).toMatchObject({ username: "alice" });
    expect(adapter.findByUsername).toBeUndefined();
    await expect(sessions.findByUsername("alice")).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
      message: expect.stringContaining("no `all` method"),
    });
    expect(await sessions.delete("a")).toBe(true);
    expect(store.data.size).toBe(0);
  });
});

describe("a store that lists an array", () => {
  class ArrayStore extends SmallStore {
    ids = true;
    override all = (callback: Callback<never>): void => {
      const list = [...this.data].map(([id, json]) => ({ ...JSON.parse(json), ...(this.ids ? { id } : {}) }));
      callback(null, list as never);
    };
  }

  it("is searched by the ids that it adds, which are no attributes", async () => {
    const store = new ArrayStore();
    const sessions = new Sessions(expressSessions(store), { ids: "raw" });
    store.set("a", DATA);
    expect((await sessions.findByUsername("alice")).sessions).toMatchObject([{ id: "a", attributeNames: ["user"] }]);
  });

  it("cannot be searched if it adds no ids", async () => {
    const store = new ArrayStore();
    store.ids = false;
    store.set("a", DATA);
    const found = new Sessions(expressSessions(store), { ids: "raw" }).findByUsername("alice");
    await expect(found).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
      message: expect.stringContaining("The adapter's option `list` can query them."),
    });
  });
});

describe("a store that keeps what has expired", () => {
  it("has it shown as expired to a search by user", async () => {
    class Keeping extends session.MemoryStore {
      override all(callback: (error: unknown, all?: Record<string, SessionData>) => void): void {
        const cookie = { originalMaxAge: 1000, expires: "2026-01-02T03:04:05.678Z" };
        callback(null, { a: { cookie, user: "alice" } as unknown as SessionData });
      }
    }
    const sessions = new Sessions(expressSessions(new Keeping()), { ids: "raw" });
    expect((await sessions.findByUsername("alice")).sessions).toMatchObject([
      { id: "a", expired: true, lastAccessedTime: Date.parse("2026-01-02T03:04:04.678Z"), maxInactiveInterval: 1 },
    ]);
  });
});

describe("a store out of reach", () => {
  const down = new Error("connect ECONNREFUSED 10.0.0.1:6379");
  const failures: Record<string, (callback: Callback<never>) => unknown> = {
    "reports an error": (callback) => setImmediate(callback, down),
    throws: () => {
      throw down;
    },
    "rejects a promise": async () => {
      throw down;
    },
    "rejects a promise and reports": async (callback) => {
      callback(down);
      throw down;
    },
  };

  function failing(call: (callback: Callback<never>) => unknown): Store {
    const store = new SmallStore();
    return Object.assign(store, {
      get: (_: string, callback: Callback<never>) => call(callback),
      all: call,
    });
  }

  it.each(Object.keys(failures))("that %s is UNAVAILABLE, with the cause but without its text", async (name) => {
    const sessions = new Sessions(expressSessions(failing(failures[name]!)), { ids: "raw" });
    const unavailable = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE", cause: down };
    for (const ask of [() => sessions.find("a"), () => sessions.findByUsername("alice"), () => sessions.delete("a")]) {
      const failed = ask();
      await expect(failed).rejects.toMatchObject(unavailable);
      await expect(failed).rejects.not.toThrow(/ECONNREFUSED/);
    }
  });

  it("that never answers is UNAVAILABLE after the timeout, and may answer later", async () => {
    let answer: Callback<never> = () => {};
    const store = failing((callback) => {
      answer = callback;
    });
    const sessions = new Sessions(expressSessions(store, { timeoutMs: 20 }), { ids: "raw" });
    const message = "The session store did not answer within 20 ms.";
    await expect(sessions.find("a")).rejects.toMatchObject({ code: "UNAVAILABLE", message });
    answer(null, DATA as never);
    answer(down);
  });

  it("that fails to destroy says so", async () => {
    const store = Object.assign(new SmallStore(), {
      destroy: (_: string, callback: Callback<never>) => callback(down),
    });
    store.set("a", DATA);
    await expect(new Sessions(expressSessions(store), { ids: "raw" }).delete("a")).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  it("is distinguished from a missing file, which is no session", async () => {
    const missing = Object.assign(new Error("no such file"), { code: "ENOENT" });
    const sessions = new Sessions(expressSessions(failing((callback) => callback(missing))), { ids: "raw" });
    expect(await sessions.find("a")).toBeUndefined();
    expect(await sessions.delete("a")).toBe(false);
  });
});
