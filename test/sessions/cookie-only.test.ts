import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import cookieSession from "cookie-session";
import express from "express";
import { getIronSession } from "iron-session";
import { describe, expect, onTestFinished, test } from "vitest";
import { SessionsService } from "../../src/gen/actuator/v3/sessions_pb.ts";
import { createActuator } from "../../src/index.ts";
import { cookieOnlySessions } from "../../src/sessions/cookie-only.ts";
import { errorInfo, transportOver } from "../support/rpc-harness.ts";

/** Applications that log in the user of a POST and return the user of a request, with nothing but a cookie. */
const LIBRARIES: readonly { library: string; application: (secret: string) => RequestListener }[] = [
  {
    library: "iron-session",
    application: (password) => async (request, response) => {
      const options = { cookieName: "s", password, cookieOptions: { secure: false } };
      const session = await getIronSession<{ user?: string }>(request, response, options);
      if (request.method === "POST") {
        session.user = "alice";
        await session.save();
      }
      response.end(session.user ?? "nobody");
    },
  },
  {
    library: "cookie-session",
    application: (secret) => {
      const app = express();
      app.use(cookieSession({ name: "s", keys: [secret] }));
      app.use((request, response) => {
        const session = request.session as unknown as { user?: string };
        if (request.method === "POST") session.user = "alice";
        response.end(session.user ?? "nobody");
      });
      return app;
    },
  },
];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function logIn(url: string): Promise<string> {
  const response = await fetch(url, { method: "POST" });
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

const who = async (url: string, cookie: string) => (await fetch(url, { headers: { cookie } })).text();

describe.each(LIBRARIES)("sessions of $library", ({ library, application }) => {
  test("are not manageable, and every call says so instead of showing none", async () => {
    const shop = await serve(application("a secret of 32 characters or more"));
    const cookie = await logIn(shop);
    expect(await who(shop, cookie)).toBe("alice");

    const actuator = createActuator({ sessions: cookieOnlySessions(library) });
    const { url } = await actuator.listen({ port: 0 });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const client = createClient(SessionsService, transportOver({ protocol: "gRPC", httpVersion: "2" }, url));
    const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["list", () => client.listSessions({ username: "alice" })],
      ["list all", () => client.listSessions({})],
      ["get", () => client.getSession({ id: "x" })],
      ["delete", () => client.deleteSession({ id: "x" })],
      ["delete of a user", () => client.deleteUserSessions({ username: "alice" })],
    ];
    for (const [name, call] of calls) {
      const error = await call().catch((error) => error as ConnectError);
      expect(error, name).toMatchObject({
        code: Code.Unimplemented,
        rawMessage: expect.stringMatching(
          new RegExp(
            `^The sessions of ${library} live in the clients' cookies, so .+ A new secret for ${library} ends`,
          ),
        ),
      });
      expect(errorInfo(error as ConnectError)?.reason, name).toBe("SESSIONS_UNREACHABLE");
    }

    const status = async (path: string, method = "GET") => {
      const response = await fetch(`${url}/actuator/sessions${path}`, { method });
      return [response.status, await response.text()];
    };
    expect(await status("?username=alice")).toEqual([404, ""]);
    expect(await status("/x")).toEqual([404, ""]);
    expect(await status("/x", "DELETE")).toEqual([501, expect.stringContaining("live in the clients' cookies")]);
    expect(await who(shop, cookie)).toBe("alice");
  });

  test("all end with a new secret, as the reason says", async () => {
    const cookie = await logIn(await serve(application("a secret of 32 characters or more")));
    expect(await who(await serve(application("another one of 32 characters, too")), cookie)).toBe("nobody");
  });
});
