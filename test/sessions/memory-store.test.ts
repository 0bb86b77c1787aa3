import { beforeEach, describe, expect, it } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { type MemorySessionStore, memorySessions } from "../../src/sessions/memory-store.ts";

const START = Date.parse("2026-01-02T03:04:05.678Z");
let now = START;
const clock = (): number => now;

let store: MemorySessionStore;
beforeEach(() => {
  now = START;
  store = memorySessions({ clock });
});

const userSessions = async (username: string, from = store) => (await from.findByUsername(username)).sessions;

describe("options", () => {
  it.each<[options: object, message: string]>([
    [{ maxSesions: 1 }, 'Unknown option "memorySessions.maxSesions"; did you mean "maxSessions"?'],
    [{ maxSessions: -1 }, "memorySessions.maxSessions must be a whole number of at least 0, not -1"],
    [{ maxInactiveIntervalMs: 0.5 }, "memorySessions.maxInactiveIntervalMs must be a whole number of milliseconds"],
    [{ expiredRetentionMs: "5m" }, "memorySessions.expiredRetentionMs must be a number of milliseconds of at least 0"],
    [{ clock: 0 }, "memorySessions.clock must be a function"],
  ])("%j is refused", (options, message) => {
    const refusal = expect.objectContaining({ code: "INVALID_ARGUMENT", message });
    expect(() => memorySessions(options)).toThrow(refusal);
  });

  it("that fit are taken", () => {
    memorySessions({ maxSessions: 0, maxInactiveIntervalMs: -1, expiredRetentionMs: 0, clock: undefined });
  });
});

describe("put", () => {
  it("makes a session with a UUID of its own, created and accessed now, for half an hour", () => {
    const session = store.put({});
    expect(session.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(session).toEqual({
      id: session.id,
      attributeNames: [],
      creationTime: START,
      firstSeenTime: START,
      lastAccessedTime: START,
      maxInactiveInterval: 1800,
      expired: false,
      username: undefined,
    });
  });

  it("takes every detail that is given", async () => {
    const details = {
      id: "a",
      username: "alice",
      attributeNames: ["cart", "cart", "locale"],
      maxInactiveInterval: 60,
      creationTime: START - 2000,
      lastAccessedTime: START - 1000,
    };
    store.put(details);
    expect(await store.findById("a")).toEqual({
      ...details,
      attributeNames: ["cart", "locale"],
      firstSeenTime: START,
      expired: false,
    });
  });

  it("replaces a live session but keeps its creation time", async () => {
    store.put({ id: "a", attributeNames: ["cart"], username: "alice" });
    now += 1000;
    store.put({ id: "a", username: "bob" });
    expect(await store.findById("a")).toMatchObject({
      attributeNames: [],
      creationTime: START,
      firstSeenTime: START,
      lastAccessedTime: now,
      username: "bob",
    });
    expect(await userSessions("alice")).toEqual([]);
    expect(await userSessions("bob")).toHaveLength(1);
  });

  it("starts a new session if the one with that id has expired", () => {
    store.put({ id: "a", maxInactiveInterval: 1 });
    now += 1000;
    expect(store.put({ id: "a" })).toMatchObject({ creationTime: now, firstSeenTime: now });
  });

  it.each([
    { id: "" },
    { id: "x".repeat(513) },
    { id: "a\nb" },
    { id: "../a" },
    { maxInactiveInterval: 1.5 },
    { maxInactiveInterval: Number.NaN },
    { creationTime: Number.NaN },
    { lastAccessedTime: 9e15 },
  ])("refuses %j", (details) => {
    const metadata = { field: Object.keys(details)[0] };
    expect(() => store.put(details)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", metadata }));
    expect(store.size).toBe(0);
  });

  it.each(["__proto__", "constructor", "42", "é ü"])("keeps a session whose id and user are %j", async (id) => {
    store.put({ id, username: id });
    expect(await userSessions(id)).toMatchObject([{ id, username: id }]);
    expect(await store.delete(id)).toBe(true);
    expect(await store.findById(id)).toBeUndefined();
  });
});

describe("expiry", () => {
  it("comes when the session was not used for its interval, to the millisecond", async () => {
    store.put({ id: "a", username: "alice", maxInactiveInterval: 2 });
    now += 1999;
    expect(await store.findById("a")).toMatchObject({ expired: false });
    now += 1;
    expect(await userSessions("alice")).toMatchObject([{ id: "a", expired: true }]);
    expect(store.touch("a")).toBe(false);
  });

  it("is put off by a touch", async () => {
    store.put({ id: "a", maxInactiveInterval: 2 });
    now += 1500;
    expect(store.touch("a")).toBe(true);
    now += 1500;
    expect(await store.findById("a")).toMatchObject({ expired: false, lastAccessedTime: START + 1500 });
  });

  it("never comes with a negative interval", async () => {
    store.put({ id: "a", maxInactiveInterval: -1 });
    now += 1e12;
    expect(await store.findById("a")).toMatchObject({ expired: false, maxInactiveInterval: -1 });
  });

  it("is not put off by reading the session", async () => {
    store.put({ id: "a", username: "alice" });
    now += 5000;
    await store.findById("a");
    await userSessions("alice");
    expect(await store.findById("a")).toMatchObject({ lastAccessedTime: START });
  });

  it("is followed by removal after the retention", async () => {
    store.put({ id: "a", username: "alice", maxInactiveInterval: 1 });
    now += 1000 + 299_999;
    expect(await userSessions("alice")).toHaveLength(1);
    now += 1;
    expect(await userSessions("alice")).toEqual([]);
    expect(await store.findById("a")).toBeUndefined();
    expect(await store.delete("a")).toBe(false);
    expect(store.size).toBe(0);
  });
});

describe("the sessions of a user", () => {
  it.each(["abc", "acb", "bac", "bca", "cab", "cba"])("are the rest when they end in the order %s", async (order) => {
    for (const id of "abc") store.put({ id, username: "alice" });
    const rest = new Set("abc");
    for (const id of order) {
      await store.delete(id);
      rest.delete(id);
      const found = (await userSessions("alice")).map(({ id }) => id);
      expect(found.sort()).toEqual([...rest]);
    }
  });
});

describe("bounds", () => {
  it("refuses one more than the most, and takes it when one has gone", async () => {
    const small = memorySessions({ clock, maxSessions: 2 });
    small.put({ id: "a" });
    small.put({ id: "b" });
    const refused = (): unknown => small.put({ id: "c" });
    expect(refused).toThrow(ActuatorError);
    expect(refused).toThrow(expect.objectContaining({ code: "RESOURCE_EXHAUSTED", reason: "SESSION_STORE_FULL" }));
    expect(refused).toThrow(/at most 2 sessions/);
    expect(() => small.put({ id: "b" })).not.toThrow();
    await small.delete("a");
    expect(() => small.put({ id: "c" })).not.toThrow();
  });

  it("drops what has expired before it refuses", async () => {
    const small = memorySessions({ clock, maxSessions: 2, maxInactiveIntervalMs: 10_000 });
    small.put({ id: "a", username: "alice" });
    now += 5000;
    small.put({ id: "b" });
    now += 5000;
    small.put({ id: "c" });
    expect(await userSessions("alice", small)).toEqual([]);
    expect(small.size).toBe(2);
  });

  it("does not grow under a stream of short sessions", () => {
    for (let second = 0; second < 10_000; second++) {
      store.put({ username: `user-${second}`, maxInactiveInterval: 1 });
      now += 1000;
    }
    expect(store.size).toBeLessThanOrEqual(1 + 300 + 60);
  });

  it("yields to the application while very many are counted, none of them twice", async () => {
    const large = memorySessions({ clock: () => now, maxSessions: 200_000 });
    for (let number = 0; number < 120_000; number++) large.put({ id: `${number}` });
    let counted = false;
    const counting = large.count({}).finally(() => {
      counted = true;
    });
    for (let number = 0; number < 50_000; number++) large.put({ id: `${number}` });
    await new Promise((resolve) => setImmediate(resolve));
    expect(counted).toBe(false);
    expect(await counting).toBe(120_000);
  });
});
