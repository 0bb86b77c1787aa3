import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { onTestFinished } from "vitest";

/** A real application of better-auth, with e-mail and password, that serves on 127.0.0.1 until the test ends. */
export interface Application {
  readonly auth: ReturnType<typeof betterAuth>;
  /** A browser of a user without an account. */
  signUp(email: string): Promise<Visitor>;
  /** Another browser of a user with an account. */
  signIn(email: string): Promise<Visitor>;
}

/** A browser that is logged in: it keeps the cookie that it was given. */
export interface Visitor {
  /** What better-auth keeps beside the cookie's signature: it grants access. */
  readonly token: string;
  /** The user that the application returns; undefined: no user has this cookie. */
  who(): Promise<string | undefined>;
  signOut(): Promise<void>;
}

const PASSWORD = "long enough for anybody";

export async function startApplication(options: BetterAuthOptions): Promise<Application> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings: BetterAuthOptions = {
    baseURL: origin,
    secret: "Nnvn4IlWcRMVkEXn3sRPDGY4mOEcTDMp",
    emailAndPassword: { enabled: true, password: QUICK_HASH },
    telemetry: { enabled: false },
    logger: { disabled: true },
    ...options,
  };
  if (typeof options.database === "object") await (await getMigrations(settings)).runMigrations();
  const auth = betterAuth(settings);
  server.on("request", toNodeHandler(auth));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });

  async function call(path: string, body?: object, cookie = ""): Promise<Response> {
    const response = await fetch(`${origin}/api/auth${path}`, {
      headers: { cookie, origin, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async function visitor(path: string, body: object): Promise<Visitor> {
    const response = await call(path, body);
    const cookie = response.headers.getSetCookie()[0]!.split(";")[0]!;
    return {
      token: decodeURIComponent(cookie.split("=")[1]!).split(".")[0]!,
      async who() {
        const found = (await (await call("/get-session", undefined, cookie)).json()) as {
          user: { email: string };
        } | null;
        return found?.user.email;
      },
      async signOut() {
        await call("/sign-out", {}, cookie);
      },
    };
  }

  return {
    auth,
    signUp: (email) => visitor("/sign-up/email", { email, name: email.split("@")[0], password: PASSWORD }),
    signIn: (email) => visitor("/sign-in/email", { email, password: PASSWORD }),
  };
}

/** A good hash of passwords takes a processor a long time; what is tested here are sessions. */
const QUICK_HASH = {
  hash: async (password: string) => Buffer.from(password).toString("base64"),
  verify: async ({ hash, password }: { hash: string; password: string }) =>
    hash === Buffer.from(password).toString("base64"),
};
