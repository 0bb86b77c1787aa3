import { describe, expect, test } from "vitest";
import { betterAuthSessions } from "../../../../src/adapters/sessions/better-auth/index.ts";
import { startApplication } from "./application.ts";
import { sqlite } from "./databases.ts";

/** A storage of texts as better-auth asks for one, with what an operator of Redis would see. */
function storage() {
  const values = new Map<string, string>();
  return {
    values,
    get: async (key: string) => values.get(key) ?? null,
    getAndDelete: async (key: string) => {
      const value = values.get(key) ?? null;
      values.delete(key);
      return value;
    },
    increment: async (key: string) => {
      const count = Number(values.get(key) ?? 0) + 1;
      values.set(key, String(count));
      return count;
    },
    set: async (key: string, value: string) => void values.set(key, value),
    delete: async (key: string) => void values.delete(key),
  };
}

describe("sessions in a secondary storage alone", () => {
  test("are found by user and by id, and end there", async () => {
    const secondaryStorage = storage();
    const application = await startApplication({ database: sqlite(), secondaryStorage });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    const elsewhere = await application.signIn("alice@example.org");
    await application.signUp("bob@example.org");

    const { sessions } = await store.findByUsername!("alice@example.org");
    expect(sessions).toHaveLength(2);
    for (const session of sessions) {
      expect(session).toMatchObject({ username: "alice@example.org", maxInactiveInterval: 604_800, expired: false });
      expect(session.lastAccessedTime).toBe(session.creationTime);
      expect(await store.findById(session.id)).toEqual(session);
    }
    expect(JSON.stringify(sessions)).not.toContain(alice.token);

    const kept = secondaryStorage.values.get(alice.token)!;
    const { session } = JSON.parse(kept) as { session: { id: string; userId: string } };
    const id = `${session.userId}:${session.id}`;
    expect(sessions.map(({ id }) => id)).toContain(id);
    expect(await store.delete!(id)).toBe(true);
    expect(await alice.who()).toBeUndefined();
    expect(await elsewhere.who()).toBe("alice@example.org");
    expect(await store.delete!(id)).toBe(false);
    expect(await store.findById(id)).toBeUndefined();
    expect(secondaryStorage.values.has(alice.token)).toBe(false);
  });

  test.each(["", "x", ":", "x:y", "%:x", "%E0%A4%A:x"])("know no id %j", async (id) => {
    const application = await startApplication({ database: sqlite(), secondaryStorage: storage() });
    await application.signUp("alice@example.org");
    const store = betterAuthSessions(application.auth);
    expect(await store.findById(id)).toBeUndefined();
    expect(await store.delete!(id)).toBe(false);
  });

  test("may have no id of their own, as those that better-auth before 1.6 made", async () => {
    const secondaryStorage = storage();
    const application = await startApplication({ database: sqlite(), secondaryStorage });
    const alice = await application.signUp("alice@example.org");
    const kept = JSON.parse(secondaryStorage.values.get(alice.token)!);
    delete kept.session.id;
    secondaryStorage.values.set(alice.token, JSON.stringify(kept));
    const elsewhere = await application.signIn("alice@example.org");
    const store = betterAuthSessions(application.auth);
    const { sessions } = await store.findByUsername!("alice@example.org");
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(2);
    const { id } = sessions.find(({ id }) => /:[\da-f]{32}$/.test(id))!;
    expect(await store.findById(id)).toMatchObject({ id, username: "alice@example.org" });
    expect(await store.delete!(id)).toBe(true);
    expect(await alice.who()).toBeUndefined();
    expect(await elsewhere.who()).toBe("alice@example.org");
  });

  test("cannot be listed, which the reason says with a way out", async () => {
    const application = await startApplication({ database: sqlite(), secondaryStorage: storage() });
    const store = betterAuthSessions(application.auth);
    expect(store.list).toBeUndefined();
    expect(store.limits?.list).toContain("storeSessionInDatabase");
  });

  test("are searched by the user's id only if there is no database of users", async () => {
    const secondaryStorage = storage();
    const application = await startApplication({ secondaryStorage });
    const alice = await application.signUp("alice@example.org");
    const byEmail = betterAuthSessions(application.auth);
    expect(byEmail.findByUsername).toBeUndefined();
    expect(byEmail.limits?.findByUsername).toContain('"id"');
    const { user } = JSON.parse(secondaryStorage.values.get(alice.token)!);
    const byId = betterAuthSessions(application.auth, { username: "id" });
    expect((await byId.findByUsername!(user.id)).sessions).toMatchObject([{ username: user.id }]);
  });

  test("are searched by a column, not by what a function makes", async () => {
    const application = await startApplication({ database: sqlite(), secondaryStorage: storage() });
    await application.signUp("alice@example.org");
    expect(
      (await betterAuthSessions(application.auth, { username: "name" }).findByUsername!("alice")).sessions,
    ).toHaveLength(1);
    const byFunction = betterAuthSessions(application.auth, { username: () => "alice" });
    expect(byFunction.findByUsername).toBeUndefined();
    expect(byFunction.limits?.findByUsername).toContain("column");
  });
});

describe("sessions in a secondary storage and the database", () => {
  test.each([false, true])("end in both, with preserveSessionInDatabase: %j", async (preserveSessionInDatabase) => {
    const secondaryStorage = storage();
    const application = await startApplication({
      database: sqlite(),
      secondaryStorage,
      session: { storeSessionInDatabase: true, preserveSessionInDatabase },
    });
    const store = betterAuthSessions(application.auth);
    const alice = await application.signUp("alice@example.org");
    expect(secondaryStorage.values.has(alice.token)).toBe(true);
    const { sessions } = await store.list!({ limit: 10 });
    expect(sessions).toMatchObject([{ username: "alice@example.org", expired: false }]);
    const [{ id } = {}] = sessions;
    expect(await store.delete!(id!)).toBe(true);
    expect(await alice.who()).toBeUndefined();
    expect(secondaryStorage.values.has(alice.token)).toBe(false);
    expect((await store.findById(id!))?.expired).toBe(preserveSessionInDatabase ? true : undefined);
    expect(await store.delete!(id!)).toBe(false);
  });
});

test("sessions that better-auth keeps nowhere but in cookies are refused, with what says so to operators", async () => {
  const { auth } = await startApplication({});
  expect(() => betterAuthSessions(auth)).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining("cookieOnlySessions") }),
  );
});
