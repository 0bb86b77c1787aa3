import { expect, test } from "vitest";
import { ActuatorError } from "../../src/common/error.ts";
import { cookieOnlySessions } from "../../src/sessions/cookie-only.ts";
import { memorySessions } from "../../src/sessions/memory-store.ts";
import { sessionDigest } from "../../src/sessions/session-id.ts";
import { sessionStores } from "../../src/sessions/session-stores.ts";
import { Sessions, type SessionsOptions } from "../../src/sessions/sessions.ts";
import type { SessionStore } from "../../src/sessions/store.ts";

const KEY = "a key of 16 and more";

function filled(name: string, count: number) {
  const store = memorySessions();
  const now = Date.now();
  for (let at = 0; at < count; at++) {
    store.put({ id: `${name}-${at}`, username: "ada", lastAccessedTime: now - at * 1000 });
  }
  return store;
}

function shop(...given: readonly SessionStore[]) {
  const stores = sessionStores(...given);
  return { stores, sessions: new Sessions(stores, { ids: "raw", idKey: KEY }) };
}

test("without a store, callers are told that there is none yet", async () => {
  const { stores, sessions } = shop();
  for (const call of [sessions.find("x"), sessions.list(), sessions.findByUsername("ada"), sessions.delete("x")]) {
    await expect(call).rejects.toMatchObject({ code: "UNIMPLEMENTED", message: "There is no session store yet." });
  }
  stores.add(filled("a", 1));
  expect((await sessions.list()).sessions).toHaveLength(1);
  expect(stores.kind).toBe("memory");
});

test.each([1, 3, 4, 7, 100])("pages of %i go through all stores, one after the other", async (pageSize) => {
  const { sessions } = shop(filled("a", 7), filled("b", 0), filled("c", 5));
  const seen: string[] = [];
  let pageToken: string | undefined = "";
  for (let pages = 0; pageToken !== undefined; pages++) {
    expect(pages).toBeLessThan(20);
    const page = await sessions.list({ pageSize, pageToken, includeTotal: true });
    expect(page.sessions.length).toBeLessThanOrEqual(pageSize);
    expect(page).toMatchObject({ totalSize: 12, partial: false });
    seen.push(...page.sessions.map(({ id }) => id));
    pageToken = page.nextPageToken;
  }
  const names = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);
  expect(seen).toEqual([...names("a", 7), ...names("c", 5)]);
});

test("a store that goes while a list is read leaves the rest of the list", async () => {
  const { stores, sessions } = shop(filled("a", 2));
  const remove = stores.add(filled("b", 5));
  stores.add(filled("c", 2));
  const first = await sessions.list({ pageSize: 4 });
  remove();
  const second = await sessions.list({ pageSize: 4, pageToken: first.nextPageToken });
  expect(second.sessions.map(({ id }) => id)).toEqual(["c-0", "c-1"]);
});

test("each session is found and ended in its own store", async () => {
  const [a, b] = [filled("a", 2), filled("b", 2)];
  const { sessions } = shop(a, b);
  expect(await sessions.find("b-1")).toMatchObject({ id: "b-1", username: "ada" });
  expect((await sessions.findByUsername("ada")).sessions).toHaveLength(4);
  expect(await sessions.delete("b-1")).toBe(true);
  expect(await sessions.delete("b-1")).toBe(false);
  expect([await a.findById("a-1"), await b.findById("b-1")]).toMatchObject([{ id: "a-1" }, undefined]);
  expect(await sessions.deleteByUsername("ada")).toMatchObject({ deleted: 3 });
});

test("hashed ids are resolved in every store", async () => {
  const stores = sessionStores(filled("a", 2), filled("b", 2));
  const options: SessionsOptions = { idKey: KEY, maxShown: 0 };
  const sessions = new Sessions(stores, options);
  const { sessions: listed } = await sessions.list();
  for (const { id } of listed) expect(await sessions.find(id)).toMatchObject({ id });
});

test("a store that cannot list or search makes answers partial", async () => {
  const bare = filled("a", 1);
  const reading: SessionStore = { kind: "bare", findById: (id) => bare.findById(id) };
  const { sessions } = shop(filled("b", 1), reading, cookieOnlySessions("cookie-session"));
  expect(await sessions.list({ includeTotal: true })).toMatchObject({ partial: true, totalSize: undefined });
  expect(await sessions.findByUsername("ada")).toMatchObject({ partial: true, sessions: [{ id: "b-0" }] });
  await expect(sessions.delete("a-0")).rejects.toMatchObject({ reason: "DELETE_UNSUPPORTED" });
});

test("ids that are bearer tokens are not shown, even of a store that comes later", async () => {
  const { stores, sessions } = shop(filled("a", 1));
  const tokens = filled("token", 1);
  stores.add({
    kind: "tokens",
    bearerIds: true,
    findById: (id) => tokens.findById(id),
    list: (query) => tokens.list(query),
  });
  await expect(sessions.list()).rejects.toMatchObject({ reason: "RAW_IDS_REFUSED" });
});

test("a store that is out of reach keeps no session of another from being found and ended", async () => {
  const down = async () => {
    throw new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", "The session store could not be reached.");
  };
  const unreachable: SessionStore = { kind: "down", findById: down, findIdByDigest: down, list: down, delete: down };
  const memory = filled("a", 2);
  const indexed: SessionStore = { ...bound(memory), findIdByDigest: async (digest) => idOf(digest) };
  const idOf = (digest: string) => ["a-0", "a-1"].find((id) => sessionDigest(id) === digest) ?? null;
  const { sessions } = shop(unreachable, indexed);
  expect(await sessions.find("a-0")).toMatchObject({ id: "a-0" });
  expect(await sessions.delete("a-0")).toBe(true);
  await expect(sessions.find("a-0")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(sessions.list()).rejects.toMatchObject({ code: "UNAVAILABLE" });

  const stores = sessionStores(unreachable, indexed);
  expect(await stores.findIdByDigest!(sessionDigest("a-1"))).toBe("a-1");
  await expect(stores.findIdByDigest!(sessionDigest("none"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await sessionStores(indexed, cookieOnlySessions("cookies")).findIdByDigest!(sessionDigest("none"))).toBeNull();
});

test("a session that two stores keep in the same place is shown to its user once, and ended in both", async () => {
  const memory = filled("a", 1);
  const ended: string[] = [];
  const one = (name: string): SessionStore => ({
    ...bound(memory),
    delete: async (id) => {
      ended.push(name);
      return memory.delete(id);
    },
  });
  const { sessions } = shop(one("shop"), one("staff"));
  expect((await sessions.findByUsername("ada")).sessions).toHaveLength(1);
  expect(await sessions.delete("a-0")).toBe(true);
  expect(ended).toEqual(["shop", "staff"]);
});

function bound(store: ReturnType<typeof memorySessions>): SessionStore {
  return {
    kind: store.kind,
    findById: (id) => store.findById(id),
    findByUsername: (username) => store.findByUsername!(username),
    list: (query) => store.list!(query),
    delete: (id) => store.delete!(id),
  };
}
