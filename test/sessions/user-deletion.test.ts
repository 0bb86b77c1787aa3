import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type MemorySessionStore, memorySessions } from "../../src/sessions/memory-store.ts";
import { SessionHandles, sessionKeys } from "../../src/sessions/session-handle.ts";
import { Sessions } from "../../src/sessions/sessions.ts";
import type { SessionSearch, SessionStore } from "../../src/sessions/store.ts";

const KEY = "a key of 16 and more";

/** Three sessions of alice, one of bob. */
function shop(change: (store: MemorySessionStore) => Partial<SessionStore> = () => ({})) {
  const store = memorySessions();
  for (const id of ["a1", "a2", "a3"]) store.put({ id, username: "alice" });
  store.put({ id: "b1", username: "bob" });
  const port: SessionStore = {
    kind: "memory",
    findById: (id) => store.findById(id),
    findByUsername: (username) => store.findByUsername(username),
    list: (query) => store.list(query),
    delete: (id) => store.delete(id),
    ...change(store),
  };
  return { store, sessions: new Sessions(port, { idKey: KEY }) };
}

const left = async (store: MemorySessionStore) => {
  const { sessions } = await store.list({ limit: 1000 });
  return sessions.map(({ id }) => id).sort();
};

/** The id that callers see in the place of a store's. */
const handles = new SessionHandles(sessionKeys(KEY).handles);

describe("ending the sessions of a user", () => {
  it("ends all of them and no other user's; a second call ends none", async () => {
    const { store, sessions } = shop();
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 3, partial: false });
    expect(await left(store)).toEqual(["b1"]);
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 0, partial: false });
  });

  it("spares the one that is named", async () => {
    const { store, sessions } = shop();
    const spared = handles.handleOf("a2");
    expect(await sessions.deleteByUsername("alice", spared)).toEqual({ deleted: 2, partial: false });
    expect(await left(store)).toEqual(["a2", "b1"]);
    expect((await sessions.find(spared))?.username).toBe("alice");
  });

  it.each([
    ["another user's", "b1"],
    ["unknown", undefined],
  ])("ends nothing if the session to keep is %s", async (_, id) => {
    const { store, sessions } = shop();
    const spared = id === undefined ? "4db5efcc-0000-0000-0000-000000000000" : handles.handleOf(id);
    await expect(sessions.deleteByUsername("alice", spared)).rejects.toMatchObject({
      code: "NOT_FOUND",
      reason: "SESSION_NOT_FOUND",
      metadata: { field: "except_id" },
    });
    expect(await left(store)).toEqual(["a1", "a2", "a3", "b1"]);
  });

  it("ends nothing if the session to keep has expired", async () => {
    const { store, sessions } = shop();
    store.put({ id: "a9", username: "alice", maxInactiveInterval: 1, lastAccessedTime: Date.now() - 2_000 });
    const [expired] = (await sessions.findByUsername("alice", { active: false })).sessions;
    await expect(sessions.deleteByUsername("alice", expired!.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await left(store)).toHaveLength(5);
  });

  it("does not count what vanished meanwhile", async () => {
    const { sessions } = shop((store) => ({
      async delete(id) {
        if (id === "a2") await store.delete(id);
        return store.delete(id);
      },
    }));
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 2, partial: false });
  });

  it("ends those that begin meanwhile, too", async () => {
    const { store, sessions } = shop((store) => ({
      async delete(id) {
        if (id === "a1") store.put({ id: "late", username: "alice" });
        return store.delete(id);
      },
    }));
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 4, partial: false });
    expect(await left(store)).toEqual(["b1"]);
  });

  it("counts one once that its store lists for a while after its end", async () => {
    const { sessions } = shop(() => ({ delete: async () => true }));
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 3, partial: false });
  });

  it("gives up after a few rounds against a user who logs in faster, and reports it", async () => {
    let logins = 0;
    const { sessions } = shop((store) => ({
      delete(id) {
        store.put({ id: `login-${++logins}`, username: "alice" });
        return store.delete(id);
      },
    }));
    expect(await sessions.deleteByUsername("alice")).toMatchObject({ partial: true });
    expect(logins).toBeLessThan(100);
  });

  it("gives up a store that takes minutes, and says so", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { store, sessions } = shop((store) => ({
      delete(id) {
        vi.advanceTimersByTime(5_000);
        return store.delete(id);
      },
    }));
    for (let number = 0; number < 97; number++) store.put({ id: `more-${number}`, username: "alice" });
    expect(await sessions.deleteByUsername("alice")).toEqual({ deleted: 16, partial: true });
    expect(await left(store)).toHaveLength(85);
  });

  it("says when the store was not searched to its end, and spares one that the search did not see", async () => {
    const cutOff = (store: MemorySessionStore) => ({
      findByUsername: async (username: string): Promise<SessionSearch> => {
        const { sessions } = await store.findByUsername(username);
        return { sessions: sessions.filter(({ id }) => id !== "a3"), partial: true };
      },
    });
    const { store, sessions } = shop(cutOff);
    const spared = handles.handleOf("a3");
    expect(await sessions.deleteByUsername("alice", spared)).toEqual({ deleted: 2, partial: true });
    expect(await left(store)).toEqual(["a3", "b1"]);
    const bobs = handles.handleOf("b1");
    await expect(sessions.deleteByUsername("alice", bobs)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("refuses an empty name, and one that is too long to be searched for", async () => {
    const { store, sessions } = shop();
    store.put({ id: "nobody's" });
    for (const name of ["", "x".repeat(1_025)]) {
      await expect(sessions.deleteByUsername(name)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await left(store)).toHaveLength(5);
  });
});
