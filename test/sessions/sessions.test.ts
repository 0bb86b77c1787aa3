import { describe, expect, it } from "vitest";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import { Sessions } from "../../src/sessions/sessions.ts";
import type { SessionStore } from "../../src/sessions/store.ts";

const START = Date.parse("2026-01-02T03:04:05.678Z");

function sessionsOf(...details: Parameters<ReturnType<typeof memorySessions>["put"]>[0][]): Sessions {
  const store = memorySessions({ clock: () => START });
  for (const detail of details) store.put(detail);
  return new Sessions(store, { ids: "raw" });
}

describe("find", () => {
  it("finds a live session by its exact id", async () => {
    const sessions = sessionsOf({ id: "a-b" });
    expect(await sessions.find("a-b")).toMatchObject({ id: "a-b" });
    expect(await sessions.find("A-B")).toBeUndefined();
  });

  it("does not find an expired session, though the search by user shows it", async () => {
    const sessions = sessionsOf({ id: "a", username: "bob", lastAccessedTime: START - 1000, maxInactiveInterval: 1 });
    expect(await sessions.find("a")).toBeUndefined();
    expect(await sessions.findByUsername("bob")).toMatchObject({
      sessions: [{ id: "a", expired: true }],
      partial: false,
    });
    expect(await sessions.delete("a")).toBe(true);
    expect(await sessions.findByUsername("bob")).toEqual({ sessions: [], partial: false });
  });
});

describe("findByUsername", () => {
  it("lists the newest access first, then by id", async () => {
    const sessions = sessionsOf(
      { id: "c", username: "alice", lastAccessedTime: START - 2 },
      { id: "b", username: "alice", lastAccessedTime: START - 2 },
      { id: "a", username: "alice", lastAccessedTime: START - 3 },
      { id: "d", username: "alice", lastAccessedTime: START - 1 },
      { id: "e", username: "ALICE" },
      { id: "f" },
    );
    expect((await sessions.findByUsername("alice")).sessions.map(({ id }) => id)).toEqual(["d", "b", "c", "a"]);
  });

  it.each(["", "alice ", "mallory"])("finds none for %j", async (username) => {
    expect(await sessionsOf({ username: "alice" }, {}).findByUsername(username)).toEqual({
      sessions: [],
      partial: false,
    });
  });

  it("finds a name of 1,024 characters, and refuses a longer one", async () => {
    const sessions = sessionsOf({ username: "x".repeat(1024) }, { username: "x".repeat(1025) });
    expect((await sessions.findByUsername("x".repeat(1024))).sessions).toHaveLength(1);
    const refused = { code: "INVALID_ARGUMENT", reason: "INVALID_USERNAME", metadata: { field: "username" } };
    await expect(sessions.findByUsername("x".repeat(1025))).rejects.toMatchObject(refused);
  });

  it("gives the reason if the store cannot search", async () => {
    const store: SessionStore = {
      kind: "cookie",
      findById: async () => undefined,
      delete: async () => false,
    };
    await expect(new Sessions(store).findByUsername("alice")).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
      message: "The cookie store cannot search by user.",
    });
    const limits = { findByUsername: "Sessions live in the browsers." };
    await expect(new Sessions({ ...store, limits }).findByUsername("alice")).rejects.toThrow(limits.findByUsername);
  });
});

describe("an id that no session can have", () => {
  it.each(["", "x".repeat(513), "a\u0000", "a\u007f", "..", "../../etc/passwd", "a/../b", "..\\b", "."])(
    "%j is not found and never reaches the store",
    async (id) => {
      const unreachable = async (): Promise<never> => {
        throw new Error(`The store was asked for ${id}.`);
      };
      const sessions = new Sessions({ kind: "strict", findById: unreachable, delete: unreachable }, { ids: "raw" });
      expect(await sessions.find(id)).toBeUndefined();
      expect(await sessions.delete(id)).toBe(false);
    },
  );

  it.each(["x".repeat(512), "a/b+c==", "..a", "a..", "a.b", "__proto__"])("%j can be one", async (id) => {
    expect(await sessionsOf({ id }).find(id)).toMatchObject({ id });
  });
});
