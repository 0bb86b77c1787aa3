import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import express from "express";
import session, { type SessionData } from "express-session";
import { afterEach, describe, expect, it, vi } from "vitest";
import { RecentIds } from "../../../../src/adapters/kit/connect-session/recent-ids.ts";
import { type StoreWatcher, watchStore } from "../../../../src/adapters/kit/connect-session/watch.ts";
import type { StoreWatch } from "../../../../src/adapters/kit/connect-session/watched-store.ts";

const METHODS = ["get", "set", "touch", "destroy", "clear", "createSession"] as const;

/** A watcher that records its calls. */
function noting(): StoreWatcher & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    saved: (id, _, made) => told.push(`saved ${id}${made ? " made" : ""}`),
    used: (id) => told.push(`used ${id}`),
    loaded: (id) => told.push(`loaded ${id}`),
    ended: (id) => told.push(`ended ${id}`),
    cleared: () => told.push("cleared"),
  };
}

function record(attributes: object = {}): SessionData {
  const cookie = { originalMaxAge: 60_000, expires: new Date(Date.now() + 60_000) };
  return { cookie, ...attributes } as unknown as SessionData;
}

function has(store: session.Store, id: string): Promise<boolean> {
  return new Promise((resolve) => store.get(id, (_, found) => resolve(found != null)));
}

function destroying(store: session.Store, id: string): () => Promise<void> {
  return () => new Promise((resolve, reject) => store.destroy(id, (error) => (error ? reject(error) : resolve())));
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a watcher", () => {
  it("is called for saves and uses before the store, and for ends after it, in the same turn", () => {
    const order: string[] = [];
    class Telling extends session.MemoryStore {
      override set(id: string): void {
        order.push(`set ${id}`);
      }
      override touch(id: string): void {
        order.push(`touch ${id}`);
      }
      override destroy(id: string): void {
        order.push(`destroy ${id}`);
      }
      override clear(): void {
        order.push("clear");
      }
    }
    const store = new Telling();
    watchStore(store, {
      saved: (id) => order.push(`saved ${id}`),
      used: (id) => order.push(`used ${id}`),
      ended: (id) => order.push(`ended ${id}`),
      cleared: () => order.push("cleared"),
    });
    const held: session.Store = store;
    held.set("a", record());
    held.touch?.("a", record());
    held.destroy("a");
    held.clear?.();
    expect(order).toEqual([
      ...["saved a", "set a", "used a", "touch a"],
      ...["destroy a", "ended a", "clear", "cleared"],
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("watcher");
      },
    ],
    ["rejects", () => Promise.reject(new Error("watcher"))],
  ])("that %s is the application's trouble in no way", async (_, fail) => {
    const store = new session.MemoryStore();
    watchStore(store, { saved: fail, used: fail, ended: fail, cleared: fail, loaded: fail });
    await new Promise<void>((resolve, reject) =>
      store.set("a", record(), (error) => (error ? reject(error) : resolve())),
    );
    expect(await has(store, "a")).toBe(true);
    await destroying(store, "a")();
    store.clear();
    await delay(1);
  });

  it("is called for each id if a store destroys several at once", () => {
    const watcher = noting();
    const store = new session.MemoryStore();
    watchStore(store, watcher);
    store.destroy(["a", "b"] as unknown as string);
    expect(watcher.told).toEqual(["ended a", "ended b"]);
  });
});

describe("a session of express-session", () => {
  it("is made when it is saved first, however often its request saves it, and loaded by each later request", async () => {
    const watcher = noting();
    const store = new session.MemoryStore();
    watchStore(store, watcher);
    const app = express().use(
      session({ store, secret: "of a test", resave: false, saveUninitialized: false, genid: () => "a" }),
      (request, response, next) => {
        request.session.basket = [...(request.session.basket ?? []), "pear"];
        request.session.save((error) => {
          request.session.user = { username: "alice" };
          if (error) next(error);
          else response.end();
        });
      },
    );
    const server = createServer(app).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const first = await fetch(base);
      expect(watcher.told).toEqual(["saved a made", "saved a"]);
      await fetch(base, { headers: { cookie: first.headers.getSetCookie()[0]!.split(";", 1)[0]! } });
      expect(watcher.told.slice(2)).toEqual(["loaded a", "saved a", "used a"]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

describe("ids of the last while", () => {
  it("go with their time, and say when one had to go before", () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const ids = new RecentIds(1000, 2);
    ids.add("a");
    vi.setSystemTime(Date.now() + 999);
    ids.add("b");
    expect([ids.has("a"), ids.has("b"), ids.complete]).toEqual([true, true, true]);
    ids.add("a");
    ids.add("c");
    expect([ids.has("a"), ids.has("b"), ids.has("c"), ids.complete]).toEqual([true, false, true, false]);
    vi.setSystemTime(Date.now() + 1000);
    expect([ids.has("a"), ids.has("c"), ids.complete]).toEqual([false, false, true]);
    ids.add("d");
    ids.delete("d");
    expect([ids.has("d"), ids.complete]).toEqual([false, true]);
  });
});

describe("the watched object", () => {
  it.each([
    ["first in, first out", [0, 1]],
    ["first in, last out", [1, 0]],
  ])("is as it was when its watchers have gone, %s", (_, order) => {
    const store = new session.MemoryStore();
    const before = METHODS.map((name) => Object.getOwnPropertyDescriptor(store, name));
    const watchers = [noting(), noting()];
    const watches = watchers.map((watcher) => watchStore(store, watcher));
    store.set("a", record());
    watches[order[0]!]!.detach();
    watches[order[0]!]!.detach();
    store.set("b", record());
    watches[order[1]!]!.detach();
    expect(METHODS.map((name) => Object.getOwnPropertyDescriptor(store, name))).toEqual(before);
    expect(watchers[order[0]!]!.told).toEqual(["saved a"]);
    expect(watchers[order[1]!]!.told).toEqual(["saved a", "saved b"]);
  });

  it("keeps a later wrapper of other code, and calls each watcher once after being watched again", () => {
    const store = new session.MemoryStore();
    const first = noting();
    const watch = watchStore(store, first);
    const inner = store.set;
    const calls: string[] = [];
    store.set = function (this: session.MemoryStore, id: string, ...rest: [SessionData]) {
      calls.push(id);
      inner.call(this, id, ...rest);
    };
    watch.detach();
    const second = noting();
    watchStore(store, second);
    store.set("a", record());
    expect([calls, first.told, second.told]).toEqual([["a"], [], ["saved a"]]);
  });
});

describe("a session that an operator ends", () => {
  async function ended(): Promise<{ store: session.MemoryStore; watch: StoreWatch }> {
    const store = new session.MemoryStore();
    const watch = watchStore(store, noting());
    store.set("a", record());
    await watch.end("a", destroying(store, "a"));
    return { store, watch };
  }

  it.each(["set", "touch"] as const)("is not brought back by a %s, which says that it did", async (method) => {
    const { store } = await ended();
    const told = await new Promise((resolve) => store[method]("a", record(), resolve));
    expect(told).toBeNull();
    expect(await has(store, "a")).toBe(false);
  });

  it("can be saved again after a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { store } = await ended();
    vi.setSystemTime(Date.now() + 59_999);
    store.set("a", record());
    expect(await has(store, "a")).toBe(false);
    vi.setSystemTime(Date.now() + 1);
    store.set("a", record());
    expect(await has(store, "a")).toBe(true);
  });

  it("can be saved as before if the store could not end it", async () => {
    const store = new session.MemoryStore();
    const watch = watchStore(store, noting());
    const down = new Error("down");
    await expect(watch.end("a", () => Promise.reject(down))).rejects.toBe(down);
    store.set("a", record());
    expect(await has(store, "a")).toBe(true);
  });

  it("stays ended if ending it again fails", async () => {
    const { store, watch } = await ended();
    await expect(watch.end("a", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    store.set("a", record());
    expect(await has(store, "a")).toBe(false);
  });

  it("is refused whichever of several watchers ended it", async () => {
    const { store, watch } = await ended();
    const other = noting();
    watchStore(store, other);
    watch.detach();
    store.set("a", record());
    expect(await has(store, "a")).toBe(false);
    expect(other.told).toEqual([]);
  });

  it("stays ended if a save was on its way to the store", async () => {
    const writes: (() => void)[] = [];
    class Slow extends session.MemoryStore {
      override set(id: string, data: SessionData, callback?: (error?: unknown) => void): void {
        writes.push(() => super.set(id, data, callback));
      }
    }
    const store = new Slow();
    const watch = watchStore(store, noting());
    const saved = new Promise((resolve) => store.set("a", record(), resolve));
    const ending = watch.end("a", destroying(store, "a"));
    await delay(1);
    for (const write of writes) write();
    await saved;
    await ending;
    expect(await has(store, "a")).toBe(false);
  });

  it("is one of at most 10,000 that are remembered", async () => {
    const store = new session.MemoryStore();
    const watch = watchStore(store, noting());
    for (let i = 0; i <= 10_000; i++) await watch.end(`${i}`, async () => {});
    store.set("0", record());
    store.set("1", record());
    expect([await has(store, "0"), await has(store, "1")]).toEqual([true, false]);
  });
});
