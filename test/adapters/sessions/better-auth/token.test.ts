import { inspect } from "node:util";
import { createClient } from "@connectrpc/connect";
import type { BetterAuthOptions } from "better-auth";
import { describe, expect, onTestFinished, test } from "vitest";
import { betterAuthSessions } from "../../../../src/adapters/sessions/better-auth/index.ts";
import { SessionsService } from "../../../../src/gen/actuator/v3/sessions_pb.ts";
import { createActuator } from "../../../../src/index.ts";
import { transportOver } from "../../../support/rpc-harness.ts";
import { startApplication } from "./application.ts";
import { sqlite } from "./databases.ts";

const everything = (value: unknown) => inspect(value, { depth: 20, showHidden: true, getters: true });

async function serve(options: BetterAuthOptions) {
  const application = await startApplication({ database: sqlite(), ...options });
  const store = betterAuthSessions(application.auth);
  const reported: unknown[] = [];
  const actuator = createActuator({
    sessions: store,
    onError: (error) => void reported.push(error),
  });
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const client = createClient(SessionsService, transportOver({ protocol: "Connect JSON", httpVersion: "1.1" }, url));
  const rest = async (path: string, method = "GET") => {
    const response = await fetch(`${url}/actuator/sessions${path}`, { method });
    return { status: response.status, headers: [...response.headers], text: await response.text() };
  };
  return { application, store, reported, client, rest };
}

describe("the token shows nowhere", () => {
  test("while the sessions of two users are listed, read and ended over RPC and REST", async () => {
    const { application, client, rest, reported } = await serve({});
    const alice = await application.signUp("alice@example.org");
    const bob = await application.signUp("bob@example.org");
    const seen: unknown[] = [];
    const keep = <T>(value: T) => {
      seen.push(value);
      return value;
    };
    const { sessions } = keep(await client.listSessions({}));
    expect(sessions.map(({ username }) => username).sort()).toEqual(["alice@example.org", "bob@example.org"]);
    keep(await client.listSessions({ username: "alice@example.org" }));
    expect(keep(await rest("?username=alice%40example.org")).status).toBe(200);
    for (const { id } of sessions) {
      keep(await client.getSession({ id }));
      expect(keep(await rest(`/${id}`)).status).toBe(200);
    }
    for (const { token } of [alice, bob]) {
      expect(keep(await rest(`/${token}`)).status).toBe(404);
      const refused = await client.getSession({ id: token }).catch((error) => error);
      seen.push(refused.rawMessage, refused.details, [...refused.metadata]);
      expect(keep(await rest(`/${token}`, "DELETE")).status).toBe(204);
      expect(await alice.who()).toBe("alice@example.org");
    }
    keep(await client.deleteUserSessions({ username: "alice@example.org" }));
    expect(await alice.who()).toBeUndefined();
    expect(await bob.who()).toBe("bob@example.org");
    for (const { token } of [alice, bob]) expect(everything([seen, reported])).not.toContain(token);
  });

  test("where a hook of the application fails with it in its error", async () => {
    const { application, store, rest, reported } = await serve({
      databaseHooks: {
        session: {
          delete: {
            before: async (session) => {
              throw Object.assign(new TypeError(`no end of ${session.token}`), { code: "E_HOOK", session });
            },
          },
        },
      },
    });
    const alice = await application.signUp("alice@example.org");
    const [{ id } = {}] = (await store.findByUsername!("alice@example.org")).sessions;
    const error = await store.delete!(id!).catch((error) => error);
    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      cause: { message: expect.stringMatching(/^TypeError E_HOOK /) },
    });
    const listed = JSON.parse((await rest("?username=alice%40example.org")).text);
    const answer = await rest(`/${listed.sessions[0].id}`, "DELETE");
    expect(answer.status).toBe(503);
    expect(everything([error, answer, reported])).not.toContain(alice.token);
    expect(await alice.who()).toBe("alice@example.org");
  });

  test("where a secondary storage, whose keys they are, fails with it in its error", async () => {
    const values = new Map<string, string>();
    let broken = false;
    const check = (key: string) => {
      if (broken) throw Object.assign(new Error(`GET ${key} failed`), { command: { args: [key] } });
    };
    const { application, store } = await serve({
      secondaryStorage: {
        get: async (key: string) => {
          if (!key.startsWith("active-sessions-")) check(key);
          return values.get(key) ?? null;
        },
        getAndDelete: async () => null,
        increment: async () => 1,
        set: async (key: string, value: string) => void values.set(key, value),
        delete: async (key: string) => void values.delete(key),
      },
    });
    const alice = await application.signUp("alice@example.org");
    const [{ id } = {}] = (await store.findByUsername!("alice@example.org")).sessions;
    broken = true;
    for (const call of [
      () => store.findById(id!),
      () => store.findByUsername!("alice@example.org"),
      () => store.delete!(id!),
    ]) {
      const error = await call().catch((error) => error);
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
      expect(everything(error)).not.toContain(alice.token);
    }
  });
});
