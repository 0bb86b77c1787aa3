import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import session, { type SessionData, type Store } from "express-session";
import fileStore from "session-file-store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type FileStoreSessionsOptions,
  fileStoreSessions,
} from "../../../../src/adapters/sessions/session-file-store/index.ts";
import { expectFreshSession } from "../../../support/fresh-session.ts";
import { startApplication, type TestApplication } from "../express-session/application.ts";

const FileStore = fileStore(session as never);

const CODED: fileStore.Options = {
  encoder: (session: unknown) => Buffer.from(JSON.stringify(session)).toString("base64"),
  decoder: (text: string) => JSON.parse(text.startsWith('"') ? text : Buffer.from(text, "base64").toString()),
};

let folder: string;
let application: TestApplication | undefined;
const logged: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "session-files-"));
  logged.length = 0;
});

afterEach(async () => {
  await application?.close();
  application = undefined;
  await rm(folder, { recursive: true, force: true });
});

function newStore(options: fileStore.Options = {}): Store {
  return new FileStore({ path: folder, reapInterval: -1, logFn: (line: string) => logged.push(line), ...options });
}

async function start(options: fileStore.Options = {}, reading?: FileStoreSessionsOptions, maxAge?: number) {
  const store = newStore(options);
  const adapter = fileStoreSessions(store, reading);
  application = await startApplication(store, maxAge === undefined ? {} : { maxAge });
  return { store, adapter, browser: application.browser() };
}

function set(store: Store, id: string, attributes: object, originalMaxAge: number | null = 60_000): Promise<void> {
  const data = { cookie: { originalMaxAge }, ...attributes } as unknown as SessionData;
  return new Promise((resolve, reject) => store.set(id, data, (error) => (error ? reject(error) : resolve())));
}

describe.each([
  ["plain files", {}],
  ["encrypted files", { secret: "of a test" }],
  ["encrypted files of bytes", { secret: "of a test", encryptEncoding: "" }],
  ["files without an extension", { fileExtension: "" }],
  ["files of the application's own encoding", CODED],
  ["encrypted files of the application's own encoding", { ...CODED, secret: "of a test" }],
])("sessions in %s", (_, options: fileStore.Options) => {
  it("are found from the login to the logout", async () => {
    const { adapter, browser } = await start(options, { scan: { maxMs: 60_000 } }, 60_000);
    const before = Date.now();
    await browser.post("/login/alice");
    const id = browser.sessionId!;
    const found = await adapter.findById(id);
    expectFreshSession(found, id, before);
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [found], partial: false });
    expect(await adapter.list!({ limit: 9 })).toMatchObject({ sessions: [found], partial: false, next: undefined });
    expect(await Promise.all([undefined, true, false].map((active) => adapter.count!({ active })))).toEqual([1, 1, 0]);
    await browser.post("/logout");
    expect(await adapter.findById(id)).toBeUndefined();
    expect(await adapter.findByUsername!("alice")).toEqual({ sessions: [], partial: false });
    expect(adapter.remembered).toBe(0);
  });
});

describe("looking at a session", () => {
  it("changes no file and logs nothing, whatever there is to see", async () => {
    const { store, adapter } = await start();
    await set(store, "live", { user: "alice" });
    await writeFile(join(folder, "old.json"), JSON.stringify({ cookie: {}, user: "alice", __lastAccess: 1000 }));
    await writeFile(join(folder, "torn.json"), '{"cookie":{},"user":"al');
    await writeFile(join(folder, "odd.json"), "[]");
    await writeFile(join(folder, "note.txt"), '{"cookie":{},"user":"alice"}');
    const contents = async () => {
      const names = (await readdir(folder)).sort();
      return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]));
    };
    const before = await contents();
    for (const id of ["live", "torn", "odd", "none"]) await adapter.findById(id);
    const { sessions } = await adapter.findByUsername!("alice");
    await adapter.list!({ limit: 9 });
    expect(sessions.map(({ id, expired }) => [id, expired]).sort()).toEqual([
      ["live", false],
      ["old", true],
    ]);
    expect(await contents()).toEqual(before);
    expect(logged).toEqual([]);
  });

  it("does not count as an access, and a request does", async () => {
    const { adapter, browser } = await start({}, {}, 60_000);
    await browser.post("/login/alice");
    const first = await adapter.findById(browser.sessionId!);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await adapter.findById(browser.sessionId!)).toEqual(first);
    await browser.get("/");
    const touched = await adapter.findById(browser.sessionId!);
    expect(touched!.lastAccessedTime).toBeGreaterThanOrEqual(first!.lastAccessedTime! + 4);
    expect(touched!.creationTime).toBe(first!.creationTime);
  });
});

describe("an expired session", () => {
  it("is shown as such until it is reaped, by the store's ttl if its cookie has no maximum age", async () => {
    const { store, adapter } = await start({ ttl: 7 });
    await set(store, "ageless", {}, null);
    expect(await adapter.findById("ageless")).toMatchObject({ maxInactiveInterval: 7, expired: false });
    const old = { cookie: { originalMaxAge: null }, user: "alice", __lastAccess: Date.now() - 7001 };
    await writeFile(join(folder, "old.json"), JSON.stringify(old));
    expect(await adapter.findById("old")).toMatchObject({ expired: true, username: "alice" });
    expect(await adapter.list!({ limit: 9, active: false })).toMatchObject({ sessions: [{ id: "old" }] });
    expect(await adapter.count!({ active: true })).toBe(1);
    expect(await new Promise((resolve) => store.get("old", (_, found) => resolve(found)))).toBeNull();
  });
});

describe("deleting", () => {
  it("ends a session, live or expired, once", async () => {
    const { store, adapter, browser } = await start({}, {}, 60_000);
    await browser.post("/login/alice");
    await writeFile(join(folder, "old.json"), JSON.stringify({ cookie: {}, __lastAccess: 1000 }));
    for (const id of [browser.sessionId!, "old"]) {
      expect(await adapter.delete!(id)).toBe(true);
      expect(await adapter.delete!(id)).toBe(false);
    }
    expect(await readdir(folder)).toEqual([]);
    expect(await (await browser.get("/")).json()).toEqual({ user: null });
    await set(store, "old", {});
    expect(await readdir(folder)).toEqual([]);
  });

  it("is not undone by a save whose file was on its way to the disk", async () => {
    const { store, adapter } = await start();
    for (let round = 0; round < 20; round++) {
      const id = `session-${round}`;
      await set(store, id, { user: "alice" });
      const saving = set(store, id, { user: "alice", basket: "x".repeat(100_000) });
      expect(await adapter.delete!(id)).toBe(true);
      await saving;
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(["../secret", "a/../../secret", "..\\secret", "/etc/secret", "inner/secret", ".", "..", "", "a\0b"])(
    "and finding do not leave the folder for %j",
    async (id) => {
      const inside = join(folder, "sessions");
      const store = newStore({ path: inside });
      const adapter = fileStoreSessions(store);
      await writeFile(join(folder, "secret.json"), '{"cookie":{},"user":"root"}');
      await newStore({ path: join(inside, "inner") });
      await writeFile(join(inside, "inner", "secret.json"), '{"cookie":{},"user":"root"}');
      expect(await adapter.findById(id)).toBeUndefined();
      expect(await adapter.delete!(id)).toBe(false);
      expect(await readdir(folder)).toContain("secret.json");
      expect(await readdir(join(inside, "inner"))).toEqual(["secret.json"]);
    },
  );
});

describe("many files", () => {
  it("are searched within the bounds, and a search that was cut off says so", async () => {
    const store = newStore();
    const json = JSON.stringify({ cookie: {}, user: "alice", __lastAccess: Date.now() });
    for (let i = 0; i < 300; i++) await writeFile(join(folder, `${i}.json`), json);
    const search = async (scan: object) => {
      const adapter = fileStoreSessions(store, { scan });
      const { sessions, partial } = await adapter.findByUsername!("alice");
      adapter.detach();
      return [sessions.length, partial];
    };
    expect(await search({ maxMs: 60_000 })).toEqual([300, false]);
    expect(await search({ maxSessions: 100 })).toEqual([100, true]);
    const hasty = fileStoreSessions(store, { scan: { maxMs: 0 } });
    expect((await hasty.list!({ limit: 9 })).partial).toBe(true);
    expect(await hasty.count!({})).toBe(300);
    expect(await hasty.count!({ active: true })).toBeUndefined();
  });
});

describe("a folder out of reach", () => {
  it("is UNAVAILABLE without its path, and well again when it is back", async () => {
    const { store, adapter } = await start();
    await rm(folder, { recursive: true });
    const failed = adapter.findByUsername!("alice");
    await expect(failed).rejects.toMatchObject({ code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" });
    await expect(failed).rejects.not.toThrow(folder);
    newStore();
    await set(store, "a", { user: "alice" });
    expect((await adapter.findByUsername!("alice")).sessions).toHaveLength(1);
  });
});

it("a store other than session-file-store's is refused and left as it was", () => {
  const store = new session.MemoryStore();
  expect(() => fileStoreSessions(store)).toThrow("must be the store that session-file-store made");
  expect(Object.hasOwn(store, "set")).toBe(false);
});
