import { describe, expect, it } from "vitest";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import { Sessions, type SessionsOptions } from "../../src/sessions/sessions.ts";
import type { SessionPage, SessionStore } from "../../src/sessions/store.ts";

const KEY = "a key of 16 and more";

function shop(options: SessionsOptions = {}) {
  const store = memorySessions();
  const now = Date.now();
  for (let age = 0; age < 25; age++) {
    const maxInactiveInterval = age < 20 ? 1800 : 1;
    store.put({ id: `sid-${age}`, lastAccessedTime: now - age * 1000, maxInactiveInterval });
  }
  return { store, sessions: new Sessions(store, { ids: "raw", idKey: KEY, ...options }) };
}

const idsOf = ({ sessions }: SessionPage) => sessions.map(({ id }) => id);

describe("the list of all sessions", () => {
  it("comes in pages, newest access first, with a total if requested", async () => {
    const { sessions } = shop();
    const first = await sessions.list({ pageSize: 10 });
    expect(idsOf(first)).toEqual(Array.from({ length: 10 }, (_, index) => `sid-${index}`));
    expect(first).toMatchObject({ partial: false, totalSize: undefined });
    const second = await sessions.list({ pageSize: 10, pageToken: first.nextPageToken, includeTotal: true });
    expect(idsOf(second)[0]).toBe("sid-10");
    expect(second.totalSize).toBe(25);
    const last = await sessions.list({ pageSize: 10, pageToken: second.nextPageToken });
    expect([last.sessions.length, last.nextPageToken]).toEqual([5, undefined]);
  });

  it("selects those that are active, or those that are not", async () => {
    const { sessions } = shop();
    expect(await sessions.list({ active: true, includeTotal: true })).toMatchObject({ totalSize: 20 });
    const over = await sessions.list({ active: false, includeTotal: true });
    expect(idsOf(over)).toEqual(["sid-20", "sid-21", "sid-22", "sid-23", "sid-24"]);
    expect(over.totalSize).toBe(5);
    expect(idsOf(await sessions.list({ active: false, pageSize: 2 }))).toEqual(["sid-20", "sid-21"]);
  });

  it("drops what a store gives past the filter", async () => {
    const { store } = shop();
    const careless: SessionStore = {
      kind: "careless",
      findById: (id) => store.findById(id),
      list: ({ limit }) => store.list({ limit }),
    };
    const { sessions } = await new Sessions(careless, { ids: "raw" }).list({ active: false });
    expect(sessions).toHaveLength(5);
  });

  it("has no total if the store cannot count", async () => {
    const { store } = shop();
    const plain: SessionStore = { kind: "plain", findById: async () => undefined, list: (query) => store.list(query) };
    expect((await new Sessions(plain, { idKey: KEY }).list({ includeTotal: true })).totalSize).toBeUndefined();
  });

  it("says when the store was not read to its end", async () => {
    const list = async () => ({ sessions: [], partial: true, next: "x" });
    const { partial } = await new Sessions(
      { kind: "cut", findById: async () => undefined, list },
      { idKey: KEY },
    ).list();
    expect(partial).toBe(true);
  });

  it("continues by a token of the same list under the same key only", async () => {
    const { store, sessions } = shop();
    const { nextPageToken: pageToken } = await sessions.list({ pageSize: 5 });
    const again = new Sessions(store, { ids: "raw", idKey: KEY });
    expect(idsOf(await again.list({ pageSize: 1, pageToken }))).toEqual(["sid-5"]);
    const refused = { code: "INVALID_ARGUMENT", reason: "INVALID_PAGE_TOKEN", metadata: { field: "page_token" } };
    await expect(sessions.list({ pageToken, active: true })).rejects.toMatchObject(refused);
    await expect(sessions.list({ pageToken: "x" })).rejects.toMatchObject(refused);
    await expect(new Sessions(store, { ids: "raw" }).list({ pageToken })).rejects.toMatchObject(refused);
  });

  it.each([0, -1, 1.5, 1_001, Number.NaN])("has no pages of %d", async (pageSize) => {
    await expect(shop().sessions.list({ pageSize })).rejects.toMatchObject({ reason: "INVALID_PAGE_SIZE" });
  });
});

describe("names of attributes", () => {
  it.each<readonly [string, SessionsOptions["attributes"], string[]]>([
    ["all", undefined, ["cart", "csrfToken", "user"]],
    ["all, too, without rules", {}, ["cart", "csrfToken", "user"]],
    ["those that are allowed", { allow: ["user", "cart", "CsrfToken"] }, ["cart", "user"]],
    ["all but those that are denied", { deny: ["csrfToken"] }, ["cart", "user"]],
    ["none that is both", { allow: ["user", "cart"], deny: ["user"] }, ["cart"]],
    ["none", { allow: [] }, []],
  ])("%s are shown", async (_, attributes, names) => {
    const store = memorySessions();
    store.put({ id: "a", username: "alice", attributeNames: ["cart", "csrfToken", "user"] });
    const sessions = new Sessions(store, { ids: "raw", attributes });
    expect((await sessions.find("a"))?.attributeNames).toEqual(names);
    expect((await sessions.findByUsername("alice")).sessions[0]?.attributeNames).toEqual(names);
    expect((await sessions.list()).sessions[0]?.attributeNames).toEqual(names);
  });
});

describe("what a store cannot do", () => {
  const able: SessionStore = {
    kind: "old",
    findById: async () => undefined,
    findByUsername: async () => ({ sessions: [], partial: false }),
    list: async () => ({ sessions: [], partial: false }),
    delete: async () => false,
  };
  const calls = {
    find: (sessions: Sessions) => sessions.find("a"),
    findByUsername: (sessions: Sessions) => sessions.findByUsername("alice"),
    list: (sessions: Sessions) => sessions.list(),
    delete: (sessions: Sessions) => sessions.delete("a"),
    deleteByUsername: (sessions: Sessions) => sessions.deleteByUsername("alice"),
  };

  it.each<readonly [keyof typeof calls, "findByUsername" | "list" | "delete", string]>([
    ["findByUsername", "findByUsername", "FIND_BY_USERNAME_UNSUPPORTED"],
    ["list", "list", "LIST_ALL_UNSUPPORTED"],
    ["delete", "delete", "DELETE_UNSUPPORTED"],
    ["deleteByUsername", "findByUsername", "FIND_BY_USERNAME_UNSUPPORTED"],
    ["deleteByUsername", "delete", "DELETE_UNSUPPORTED"],
  ])("%s gives the reason if the store has no %s", async (call, ability, reason) => {
    const { [ability]: _, ...unable } = able;
    const refused = { code: "UNIMPLEMENTED", reason };
    await expect(calls[call](new Sessions(unable, { idKey: KEY }))).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/^The old store cannot/),
    });
    const limits = { [ability]: "Because of the weather." };
    await expect(calls[call](new Sessions({ ...unable, limits }, { idKey: KEY }))).rejects.toMatchObject({
      ...refused,
      message: "Because of the weather.",
    });
  });

  it.each(Object.keys(calls) as (keyof typeof calls)[])(
    "%s gives the reason if sessions cannot be reached at all",
    async (call) => {
      const limits = { findById: "They live in the clients' cookies." };
      await expect(calls[call](new Sessions({ ...able, limits }, { idKey: KEY }))).rejects.toMatchObject({
        code: "UNIMPLEMENTED",
        reason: "SESSIONS_UNREACHABLE",
        message: limits.findById,
      });
    },
  );
});

describe("bearer tokens", () => {
  const store: SessionStore = { kind: "tokens", bearerIds: true, findById: async () => undefined };

  it("are never shown", () => {
    expect(() => new Sessions(store, { ids: "raw" })).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", reason: "RAW_IDS_REFUSED", metadata: { field: "ids" } }),
    );
    expect(() => new Sessions(store, { idKey: KEY })).not.toThrow();
  });
});

describe("close", () => {
  const storeWith = (detach: SessionStore["detach"] & {}): SessionStore => ({
    kind: "test",
    findById: async () => undefined,
    detach,
  });

  it("waits until the store has left the application as it was, once", async () => {
    let left = 0;
    const sessions = new Sessions(
      storeWith(async () => void left++),
      { idKey: KEY },
    );
    await Promise.all([sessions.close(), sessions.close()]);
    expect(left).toBe(1);
    await new Sessions({ kind: "plain", findById: async () => undefined }, { idKey: KEY }).close();
  });

  it("does not wait for ever, and says what the store threw", async () => {
    const silent = new Sessions(
      storeWith(() => new Promise(() => {})),
      { idKey: KEY },
    );
    await expect(silent.close(10)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const broken = new Sessions(
      storeWith(() => {
        throw new Error("broken");
      }),
      { idKey: KEY },
    );
    await expect(broken.close()).rejects.toThrow("broken");
  });
});
