// @module-tag slow
import type { DatabaseSync } from "node:sqlite";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { betterAuth as minimal } from "better-auth/minimal";
import { organization, username } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { betterAuthSessions } from "../../../../src/adapters/sessions/better-auth/index.ts";
import type { Session } from "../../../../src/sessions/session.ts";
import type { SessionStore } from "../../../../src/sessions/store.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { type Application, startApplication } from "./application.ts";
import { memory, postgres, sqlite } from "./databases.ts";

type Database = BetterAuthOptions["database"];

let server: PostgresServer;
const withPostgres = requirement("postgresql", postgresFound);
beforeAll(async () => {
  if (withPostgres) server = await startPostgres();
});
afterAll(() => server?.stop());

const DATABASES: readonly { name: string; open: (sessions?: string) => Promise<Database> | Database }[] = [
  { name: "node:sqlite", open: sqlite },
  { name: "the memory adapter", open: memory },
  ...(withPostgres ? [{ name: "PostgreSQL", open: () => postgres(server) }] : []),
];

/** Sessions get a column of the application's own, which says where they were opened. */
const DEVICE: Pick<BetterAuthOptions, "session" | "databaseHooks"> = {
  session: {
    additionalFields: {
      device: { type: "string", required: false, input: false },
      unused: { type: "string", required: false, input: false },
    },
  },
  databaseHooks: {
    session: { create: { before: async (session) => ({ data: { ...session, device: "a secret phone" } }) } },
  },
};

async function searched(store: SessionStore, username: string): Promise<readonly Session[]> {
  const { sessions, partial } = await store.findByUsername!(username);
  expect(partial).toBe(false);
  return sessions;
}

async function rowsOf({ auth }: Application): Promise<Record<string, unknown>[]> {
  return (await auth.$context).adapter.findMany({ model: "session", limit: 10_000 });
}

async function update({ auth }: Application, id: string, values: object): Promise<void> {
  const { adapter } = await auth.$context;
  await adapter.updateMany({ model: "session", where: [{ field: "id", value: id }], update: values });
}

describe.each(DATABASES)("on $name", ({ open }) => {
  test("a session is what its row says, found by its user and by its id, which is no token", async () => {
    const application = await startApplication({ database: await open(), ...DEVICE });
    const store = betterAuthSessions(application.auth);
    const before = Date.now();
    const alice = await application.signUp("alice@example.org");
    const bob = await application.signUp("bob@example.org");
    await application.signIn("alice@example.org");

    const found = await searched(store, "alice@example.org");
    expect(found).toHaveLength(2);
    expect(await searched(store, "bob@example.org")).toHaveLength(1);
    expect(await searched(store, "nobody@example.org")).toEqual([]);
    for (const session of found) {
      expect(session).toEqual({
        id: expect.any(String),
        attributeNames: ["device"],
        creationTime: expect.any(Number),
        firstSeenTime: session.creationTime,
        lastAccessedTime: expect.any(Number),
        maxInactiveInterval: 7 * 86_400,
        expired: false,
        username: "alice@example.org",
      });
      expect(session.creationTime).toBeGreaterThanOrEqual(before);
      expect(session.lastAccessedTime).toBeLessThanOrEqual(Date.now());
      expect(await store.findById(session.id)).toEqual(session);
    }
    for (const { token } of [alice, bob]) expect(await store.findById(token)).toBeUndefined();
    expect((await rowsOf(application)).map(({ id }) => id)).toEqual(expect.arrayContaining(found.map(({ id }) => id)));
  });

  test("reading leaves the rows as they were", async () => {
    const application = await startApplication({ database: await open(), session: { updateAge: 0 } });
    const store = betterAuthSessions(application.auth);
    await application.signUp("alice@example.org");
    const before = await rowsOf(application);
    const [session] = await searched(store, "alice@example.org");
    await store.findById(session!.id);
    await store.list!({ limit: 10 });
    expect(await rowsOf(application)).toEqual(before);
  });

  test("a use that better-auth notes moves the last access", async () => {
    const application = await startApplication({ database: await open(), session: { updateAge: 0 } });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    const [{ id } = {}] = await rowsOf(application);
    const old = Date.now() - 3_600_000;
    await update(application, String(id), { updatedAt: new Date(old), expiresAt: new Date(old + 86_400_000) });
    expect(await store.findById(String(id))).toMatchObject({ lastAccessedTime: old, maxInactiveInterval: 86_400 });
    expect(await alice.who()).toBe("alice@example.org");
    const used = await store.findById(String(id));
    expect(used!.lastAccessedTime).toBeGreaterThan(old);
  });

  test("a session that is deleted is refused by the application, and the others go on", async () => {
    const application = await startApplication({ database: await open() });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    const [{ id } = {}] = await searched(store, "alice@example.org");
    const elsewhere = await application.signIn("alice@example.org");
    expect(await alice.who()).toBe("alice@example.org");
    expect(await store.delete!(id!)).toBe(true);
    expect(await alice.who()).toBeUndefined();
    expect(await elsewhere.who()).toBe("alice@example.org");
    expect(await store.delete!(id!)).toBe(false);
    expect(await store.delete!("never there")).toBe(false);
    expect(await searched(store, "alice@example.org")).toHaveLength(1);
  });

  test("an expired session is shown as such while its row is kept, and can be deleted", async () => {
    const application = await startApplication({ database: await open() });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    await application.signUp("bob@example.org");
    const [{ id } = {}] = await searched(store, "alice@example.org");
    await update(application, id!, { expiresAt: new Date(Date.now() - 1_000) });

    expect(await store.findById(id!)).toMatchObject({ id, expired: true, maxInactiveInterval: 0 });
    expect(await searched(store, "alice@example.org")).toMatchObject([{ id, expired: true }]);
    const ids = async (active?: boolean) =>
      (await store.list!({ limit: 10, active })).sessions.map(({ username }) => username);
    expect(await ids(false)).toEqual(["alice@example.org"]);
    expect(await ids(true)).toEqual(["bob@example.org"]);
    expect(await ids()).toHaveLength(2);
    expect(await Promise.all([true, false, undefined].map((active) => store.count!({ active })))).toEqual([1, 1, 2]);
    expect(await store.delete!(id!)).toBe(true);
    expect(await store.findById(id!)).toBeUndefined();
    expect(await alice.who()).toBeUndefined();
  });

  test.each([1, 2, 3, 4, 5, 8, 12, 30])("pages of %i show every session once, newest first", async (limit) => {
    const application = await startApplication({ database: await open() });
    const store = betterAuthSessions(application.auth);
    await application.signUp("alice@example.org");
    await seed(application, [1, 1, 1, 2, 3, 3, 4, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 8, 9, 9, 9]);
    const shown: Session[] = [];
    let after: string | undefined;
    do {
      const page = await store.list!({ limit, after });
      expect(page.sessions.length).toBeLessThanOrEqual(limit);
      shown.push(...page.sessions);
      after = page.next;
    } while (after !== undefined);
    expect(new Set(shown.map(({ id }) => id)).size).toBe(22);
    expect(shown).toHaveLength(22);
    const times = shown.map(({ lastAccessedTime }) => lastAccessedTime!);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(new Set(shown.map(({ username }) => username))).toEqual(new Set(["alice@example.org"]));
  });

  test("other names of tables and columns are the application's own affair", async () => {
    const application = await startApplication({
      database: await open("logins"),
      session: {
        modelName: "logins",
        fields: { token: "secret", userId: "user_id", updatedAt: "touched_at", expiresAt: "ends_at" },
        additionalFields: { device: { type: "string", required: false, input: false, fieldName: "device_name" } },
      },
      user: { fields: { email: "mail" } },
      databaseHooks: DEVICE.databaseHooks!,
    });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    await application.signUp("bob@example.org");
    const [session] = await searched(store, "alice@example.org");
    expect(session).toMatchObject({ username: "alice@example.org", attributeNames: ["device"], expired: false });
    expect((await store.list!({ limit: 1 })).sessions).toHaveLength(1);
    expect((await store.list!({ limit: 5 })).sessions).toHaveLength(2);
    expect(await store.delete!(session!.id)).toBe(true);
    expect(await alice.who()).toBeUndefined();
  });

  test("a hook of the application that refuses to end a session is not passed over", async () => {
    const application = await startApplication({
      database: await open(),
      databaseHooks: { session: { delete: { before: async () => false } } },
    });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    const [{ id } = {}] = await searched(store, "alice@example.org");
    await expect(store.delete!(id!)).rejects.toMatchObject({ code: "FAILED_PRECONDITION", reason: "SESSION_KEPT" });
    expect(await alice.who()).toBe("alice@example.org");
  });

  describe("a user is called", () => {
    test.each([
      ["by a column", "name", "alice"],
      ["by what a function makes of the user", (user: { name?: unknown }) => `_${user.name}`, "_alice"],
    ])("%s", async (_, username, name) => {
      const application = await startApplication({ database: await open() });
      const store = betterAuthSessions(application.auth, { username });
      await application.signUp("alice@example.org");
      await application.signUp("alice@example.com");
      await application.signUp("bob@example.org");
      const found = await searched(store, name);
      expect(found.map(({ username }) => username)).toEqual([name, name]);
      expect((await store.findById(found[0]!.id))?.username).toBe(name);
      expect(await searched(store, "alice@example.org")).toEqual([]);
    });

    test("by id", async () => {
      const application = await startApplication({ database: await open() });
      const store = betterAuthSessions(application.auth, { username: "id" });
      await application.signUp("alice@example.org");
      await application.signUp("bob@example.org");
      const [{ userId } = {}] = await rowsOf(application);
      expect(await searched(store, String(userId))).toMatchObject([{ username: userId }]);
    });

    test("by nothing, if the column does not exist or the function throws", async () => {
      const application = await startApplication({ database: await open() });
      await application.signUp("alice@example.org");
      const wrong = betterAuthSessions(application.auth, { username: "emial" });
      const refused = { code: "FAILED_PRECONDITION", reason: "USERNAME_COLUMN_UNKNOWN" };
      await expect(wrong.findByUsername!("alice@example.org")).rejects.toMatchObject(refused);
      const throwing = betterAuthSessions(application.auth, {
        username: () => {
          throw new Error("no");
        },
      });
      expect((await throwing.list!({ limit: 5 })).sessions).toMatchObject([{ username: undefined }]);
    });

    test("not in another case", async () => {
      const application = await startApplication({ database: await open() });
      await application.signUp("alice@example.org");
      expect(await searched(betterAuthSessions(application.auth), "Alice@example.org")).toEqual([]);
    });
  });

  test("more than better-auth reads unless told otherwise are read", async () => {
    const application = await startApplication({ database: await open() });
    const store = betterAuthSessions(application.auth);
    await application.signUp("alice@example.org");
    await seed(application, Array<number>(150).fill(1));
    expect(await searched(store, "alice@example.org")).toHaveLength(151);
    await seedUsers(application, 150);
    const { sessions } = await store.list!({ limit: 1_000 });
    expect(new Set(sessions.map(({ username }) => username)).size).toBe(151);
  });

  test("a search that is cut off by a bound says so", async () => {
    const application = await startApplication({ database: await open() });
    await application.signUp("alice@example.org");
    await seed(application, [1, 2, 3, 4]);
    const bounded = (username: "email" | (() => string)) =>
      betterAuthSessions(application.auth, { username, scan: { maxSessions: 3 } });
    const indexed = await bounded("email").findByUsername!("alice@example.org");
    expect(indexed).toMatchObject({ partial: true, sessions: { length: 3 } });
    const scanned = await bounded(() => "x").findByUsername!("x");
    expect(scanned).toMatchObject({ partial: true, sessions: { length: 3 } });
  });
});

describe.each(DATABASES.filter(({ name }) => name !== "the memory adapter"))("on $name", ({ open }) => {
  test.each(["uuid", "serial"] as const)(
    "ids that are a %s are found, and anything else finds nothing",
    async (kind) => {
      const application = await startApplication({
        database: await open(),
        advanced: { database: { generateId: kind } },
      });
      const store = betterAuthSessions(application.auth);
      const byId = betterAuthSessions(application.auth, { username: "id" });
      await application.signUp("alice@example.org");
      const [session] = await searched(store, "alice@example.org");
      expect(await store.findById(session!.id)).toEqual(session);
      for (const id of ["x", "1e3", "99999999999999999999", "-1", "' OR 1=1", "\u0000"]) {
        expect(await store.findById(id)).toBeUndefined();
        expect(await store.delete!(id)).toBe(false);
        expect(await searched(byId, id)).toEqual([]);
      }
      expect(await store.delete!(session!.id)).toBe(true);
    },
  );
});

describe("plugins", () => {
  test("have columns that are attributes, once they hold something", async () => {
    const application = await startApplication({ database: sqlite(), plugins: [organization(), username()] });
    const store = betterAuthSessions(application.auth, { username: "username" });
    await application.signUp("alice@example.org");
    const { adapter } = await application.auth.$context;
    await adapter.updateMany({ model: "user", where: [], update: { username: "ally" } });
    const [session] = await searched(store, "ally");
    expect(session).toMatchObject({ username: "ally", attributeNames: [] });
    await update(application, session!.id, { activeOrganizationId: "of-a-test" });
    expect(await store.findById(session!.id)).toMatchObject({ attributeNames: ["activeOrganizationId"] });
  });

  test("make a type of instance that is taken as it is", () => {
    const secret = "Nnvn4IlWcRMVkEXn3sRPDGY4mOEcTDMp";
    const shared = { secret, baseURL: "http://127.0.0.1", database: memory(), telemetry: { enabled: false } };
    const instances = [
      betterAuthSessions(betterAuth({ ...shared })),
      betterAuthSessions(betterAuth({ ...shared, plugins: [organization(), username()] })),
      betterAuthSessions(minimal({ ...shared, session: { additionalFields: { a: { type: "string" } } } })),
    ];
    for (const { kind } of instances) expect(kind).toBe("better-auth");
  });
});

test("a database that ignores case finds no other user", async () => {
  const database = sqlite() as DatabaseSync;
  const columns = '"emailVerified" integer, "image" text, "createdAt" date, "updatedAt" date';
  database.exec(
    `create table "user" ("id" text primary key collate nocase, "name" text, "email" text collate nocase, ${columns})`,
  );
  const application = await startApplication({ database });
  await application.signUp("alice@example.org");
  const store = betterAuthSessions(application.auth);
  expect(await searched(store, "ALICE@example.org")).toEqual([]);
  expect(await searched(store, "alice@example.org")).toHaveLength(1);
});

/** Users with a session each. */
async function seedUsers({ auth }: Application, count: number): Promise<void> {
  const { adapter } = await auth.$context;
  const now = new Date();
  const times = { createdAt: now, updatedAt: now };
  for (let index = 0; index < count; index++) {
    const email = `user${index}@example.org`;
    const data = { email, name: email, emailVerified: false, ...times };
    const { id } = await adapter.create<typeof data, typeof data & { id: string }>({ model: "user", data });
    const expiresAt = new Date(now.getTime() + 86_400_000);
    await adapter.create({ model: "session", data: { userId: id, token: `token-of-${index}`, expiresAt, ...times } });
  }
}

/** Further sessions of the one user there is, last updated so many minutes ago. */
async function seed({ auth }: Application, minutes: readonly number[]): Promise<void> {
  const { adapter } = await auth.$context;
  const [{ userId } = {}] = await adapter.findMany<{ userId: string }>({ model: "session" });
  const now = Date.now();
  for (const [index, each] of minutes.entries()) {
    const updatedAt = new Date(now - each * 60_000);
    const expiresAt = new Date(now + 86_400_000);
    await adapter.create({
      model: "session",
      data: { userId, token: `token-${index}`, updatedAt, createdAt: updatedAt, expiresAt },
    });
  }
}
