import { describe, expect, it } from "vitest";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import type { Session } from "../../src/sessions/session.ts";
import { sessionDigest } from "../../src/sessions/session-id.ts";
import { HashedIds, ShownIds } from "../../src/sessions/session-ids.ts";
import type { SessionStore } from "../../src/sessions/store.ts";

const KEY = Buffer.alloc(16, 7);
const session = (id: string): Session => ({ id, attributeNames: [], firstSeenTime: 0, expired: false });

/** What a store can be asked for, and how often it was. */
function storeOf(ids: readonly string[], abilities: Partial<SessionStore> = {}) {
  const asked = { index: 0, pages: 0 };
  const list: SessionStore["list"] = async ({ limit, after }) => {
    asked.pages++;
    const start = Number(after ?? 0);
    const next = start + limit < ids.length ? { next: String(start + limit) } : {};
    return { sessions: ids.slice(start, start + limit).map(session), partial: false, ...next };
  };
  const findIdByDigest = async (digest: string) => {
    asked.index++;
    return ids.find((id) => sessionDigest(id) === digest);
  };
  const store: SessionStore = { kind: "test", findById: async (id) => session(id), list, findIdByDigest, ...abilities };
  return { store, asked };
}

/** What another instance with the same key shows. */
const handleOf = (id: string) => new HashedIds({ kind: "other", findById: async () => undefined }, KEY).shown([id])[0]!;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `sid-${index}`);
const without = (...names: (keyof SessionStore)[]) => Object.fromEntries(names.map((name) => [name, undefined]));

describe("an id that was shown", () => {
  it("is found again without asking the store", async () => {
    const { store, asked } = storeOf(numbered(3));
    const ids = new HashedIds(store, KEY);
    expect(await ids.resolve(ids.shown(["sid-1"])[0]!)).toBe("sid-1");
    expect(asked).toEqual({ index: 0, pages: 0 });
  });

  it("is forgotten when many more are shown than are remembered, and then found by the store", async () => {
    const { store, asked } = storeOf(numbered(8));
    const ids = new HashedIds(store, KEY, 2);
    const [first, ...others] = ids.shown(numbered(8));
    expect(await ids.resolve(others.at(-1)!)).toBe("sid-7");
    expect(asked.index).toBe(0);
    expect(await ids.resolve(first!)).toBe("sid-0");
    expect(asked.index).toBe(1);
  });

  it("is forgotten when the session is gone", async () => {
    const { store } = storeOf([]);
    const ids = new HashedIds(store, KEY);
    const handle = ids.shown(["sid-1"])[0]!;
    ids.forget(handle);
    expect(await ids.resolve(handle)).toBeUndefined();
  });
});

describe("an id that another instance has shown", () => {
  it("is found through the store's index", async () => {
    const { store, asked } = storeOf(numbered(3));
    expect(await new HashedIds(store, KEY).resolve(handleOf("sid-2"))).toBe("sid-2");
    expect(asked).toEqual({ index: 1, pages: 0 });
  });

  it("is searched for if the index lacks it or returns another session", async () => {
    for (const said of [undefined, "sid-0"]) {
      const { store, asked } = storeOf(numbered(3), { findIdByDigest: async () => said });
      expect(await new HashedIds(store, KEY).resolve(handleOf("sid-2"))).toBe("sid-2");
      expect(asked.pages).toBe(1);
    }
  });

  it("is not searched for if the index holds every session", async () => {
    const { store, asked } = storeOf(numbered(3), { findIdByDigest: async () => null });
    expect(await new HashedIds(store, KEY).resolve(handleOf("sid-2"))).toBeUndefined();
    expect(asked.pages).toBe(0);
  });

  it("is searched for page by page", async () => {
    const { store, asked } = storeOf(numbered(1_234), { findIdByDigest: async () => undefined });
    const ids = new HashedIds(store, KEY);
    expect(await ids.resolve(handleOf("sid-1233"))).toBe("sid-1233");
    expect(await ids.resolve(handleOf("nobody's"))).toBeUndefined();
    expect(asked.pages).toBe(6);
  });
});

describe("an id that cannot be resolved", () => {
  const unresolved = { code: "NOT_FOUND", reason: "SESSION_NOT_RESOLVED" };

  it("is reported for a store of endless pages after a bounded number of pages", async () => {
    let pages = 0;
    const list = async () => ({ sessions: [], partial: false, next: String(++pages) });
    const { store } = storeOf([], { list, findIdByDigest: async () => undefined });
    const found = new HashedIds(store, KEY).resolve(handleOf("sid"));
    await expect(found).rejects.toMatchObject(unresolved);
    await expect(found).rejects.toThrow(/too large to search for it.*connect-actuator sessions prepare/);
    expect(pages).toBeLessThanOrEqual(100);
  });

  it("is reported for a store whose pages were cut off", async () => {
    const list = async () => ({ sessions: [], partial: true });
    const { store } = storeOf([], { list, findIdByDigest: async () => undefined });
    await expect(new HashedIds(store, KEY).resolve(handleOf("sid"))).rejects.toMatchObject(unresolved);
  });

  it("is reported for a store that cannot list", async () => {
    const { store } = storeOf([], without("list", "findIdByDigest"));
    const found = new HashedIds(store, KEY).resolve(handleOf("sid"));
    await expect(found).rejects.toMatchObject(unresolved);
    await expect(found).rejects.toThrow(/cannot list/);
  });
});

it.each(["", "sid-1", "../x", "A".repeat(600), "4DB5EFCC-0000-0000-0000-000000000000"])(
  "%j is unknown without asking the store",
  async (text) => {
    const unreachable = () => Promise.reject(new Error("the store was asked"));
    const { store } = storeOf([], { list: unreachable, findIdByDigest: unreachable });
    expect(await new HashedIds(store, KEY).resolve(text)).toBeUndefined();
  },
);

it("the store in memory finds an id by its digest among many, and says for sure that it has none", async () => {
  const store = memorySessions();
  for (const id of numbered(2_500)) store.put({ id });
  expect(await store.findIdByDigest(sessionDigest("sid-2499"))).toBe("sid-2499");
  expect(await store.findIdByDigest(sessionDigest("sid-2500"))).toBeNull();
});

describe("searches through a whole store", () => {
  it("are few at a time, and one that is over makes room", async () => {
    const { promise: hangs, resolve: goOn } = Promise.withResolvers<void>();
    const { store } = storeOf(numbered(3), { findIdByDigest: undefined as never });
    const list: SessionStore["list"] = async (query) => {
      await hangs;
      return store.list!(query);
    };
    const ids = new HashedIds({ ...store, list }, KEY);
    const handle = handleOf("sid-2");
    const under = Array.from({ length: 4 }, () => ids.resolve(handle));
    await expect(ids.resolve(handle)).rejects.toMatchObject({ code: "NOT_FOUND", reason: "SESSION_NOT_RESOLVED" });
    goOn();
    expect(await Promise.all(under)).toEqual(Array(4).fill("sid-2"));
    expect(await ids.resolve(handle)).toBe("sid-2");
  });
});
const handles = (count: number) => Array.from({ length: count }, (_, index) => `h${index}`);

describe("the ids that were shown", () => {
  it.each([1, 2, 7, 100])(
    "are found again while they are among the last %i, and no more than twice as many",
    (limit) => {
      const shown = new ShownIds(limit);
      for (const [index, handle] of handles(1_000).entries()) {
        shown.remember(handle, `id ${handle}`);
        const last = handles(index + 1).slice(-limit);
        expect(last.map((one) => shown.find(one))).toEqual(last.map((one) => `id ${one}`));
      }
      expect(handles(1_000).filter((handle) => shown.find(handle) !== undefined).length).toBeLessThanOrEqual(2 * limit);
    },
  );

  it("shown again count as shown last", () => {
    const shown = new ShownIds(2);
    shown.remember("a", "1");
    for (const handle of handles(50)) {
      shown.remember(handle, handle);
      shown.remember("a", "1");
      expect(shown.find("a")).toBe("1");
    }
  });

  it("are forgotten, and with a limit of 0 none is kept", () => {
    const shown = new ShownIds(1);
    shown.remember("a", "1");
    shown.remember("b", "2");
    for (const handle of ["a", "b"]) {
      shown.forget(handle);
      expect(shown.find(handle)).toBeUndefined();
    }
    const none = new ShownIds(0);
    none.remember("a", "1");
    expect(none.find("a")).toBeUndefined();
  });
});
