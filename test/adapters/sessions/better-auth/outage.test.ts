import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { betterAuthSessions } from "../../../../src/adapters/sessions/better-auth/index.ts";
import type { SessionStore } from "../../../../src/sessions/store.ts";
import { type PostgresServer, postgresFound, startPostgres } from "../../../support/postgres-server.ts";
import { requirement } from "../../../support/requirement.ts";
import { startApplication } from "./application.ts";
import { postgres } from "./databases.ts";

const OPERATIONS: readonly (readonly [string, (store: SessionStore) => Promise<unknown>])[] = [
  ["findById", (store) => store.findById("x")],
  ["findByUsername", (store) => store.findByUsername!("alice@example.org")],
  ["list", (store) => store.list!({ limit: 10 })],
  ["count", (store) => store.count!({})],
  ["delete", (store) => store.delete!("x")],
];
const UNAVAILABLE = { code: "UNAVAILABLE", reason: "SESSION_STORE_UNAVAILABLE" };

describe.runIf(requirement("postgresql", postgresFound))("a database that", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  test("is dead makes every operation unavailable, until it is back", async () => {
    const application = await startApplication({ database: await postgres(server) });
    await application.signUp("alice@example.org");
    const store = betterAuthSessions(application.auth, { timeoutMs: 10_000 });
    await server.kill();
    for (const [name, operation] of OPERATIONS) {
      const error = await operation(store).catch((error) => error as Error);
      expect(error, name).toMatchObject({ ...UNAVAILABLE, cause: expect.any(Error) });
      expect((error as Error).message, name).not.toMatch(/\d\.\d|5432|alice|x/);
    }
    await server.restart();
    await expect
      .poll(() => store.findByUsername!("alice@example.org").catch((error) => error))
      .toMatchObject({ sessions: [{ username: "alice@example.org" }] });
  });

  test("is frozen keeps no caller waiting for longer than the timeout", async () => {
    const application = await startApplication({ database: await postgres(server) });
    await application.signUp("alice@example.org");
    const store = betterAuthSessions(application.auth, { timeoutMs: 300 });
    server.freeze();
    try {
      for (const [name, operation] of OPERATIONS) {
        const outcome = await Promise.race([operation(store).catch((error) => error), delay(20_000, "hangs")]);
        expect(outcome, name).toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining("within 300 ms") });
      }
    } finally {
      server.thaw();
    }
    await expect.poll(() => store.count!({}).catch((error) => error)).toBe(1);
  });
});
