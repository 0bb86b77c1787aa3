import { once } from "node:events";
import http from "node:http";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { expect } from "vitest";
import { LINES } from "../../../src/processes/description.ts";
import { attachTo, runPlain } from "../../support/attach-command.ts";
import {
  type ApplicationFolder,
  applicationFolder,
  type RunningApplication,
  runApplication,
} from "../../support/auto-application.ts";

const FORMATS = ["ESM", "CommonJS"] as const;
export type Format = (typeof FORMATS)[number];

/** An application with sessions, as its author wrote it. */
export interface SessionApplication {
  readonly framework: keyof typeof FRAMEWORKS;
  readonly format: Format;
  /** What it imports besides its framework, as `[binding, package]`. */
  readonly imports?: readonly (readonly [binding: string, from: string])[];
  /** Makes `store`. Default: the middleware makes its own. */
  readonly setup?: string;
  /** What describes the sessions. */
  readonly kind: string;
  /** The adapter that shows its store explicitly, and the path of its file. */
  readonly adapter: readonly [name: string, path: string];
  /** Makes `store` for explicit use. Default: `setup`. */
  readonly explicitSetup?: string;
  /** Packages that stand under another name, such as `{ "connect-redis": "connect-redis9" }`. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Whose sessions they are. Default: "ada". */
  readonly username?: string;
  /** More code, after the middleware was made. */
  readonly code?: string;
}

const CODE = `
function shapeOf(object) {
  const lines = [];
  for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(at, key);
      lines.push([String(key), flags, typeof value === "function" ? String(value) : typeof value, String(get), String(set)]);
    }
  }
  return lines;
}
`;

const FRAMEWORKS = {
  express: {
    imports: [
      ["express", "express"],
      ["session", "express-session"],
    ],
    code: `
      const app = express();
      const options = { secret: "x", resave: false, saveUninitialized: false, cookie: { maxAge: 600_000 } };
      app.use(session({ ...options, ...(store && { store }) }));
      app.get("/shape", (req, res) => res.json([session.Store.prototype, session.Session.prototype, req.sessionStore].map(shapeOf)));
      app.get("/", (req, res) => {
        req.session.user = { username: "ada" };
        req.session.views = (req.session.views ?? 0) + 1;
        res.end(String(req.session.views));
      });
      const server = app.listen(0, "127.0.0.1", () => console.log("port " + server.address().port + ";"));
    `,
  },
  fastify: {
    imports: [
      ["fastify", "fastify"],
      ["cookie", "@fastify/cookie"],
      ["session", "@fastify/session"],
    ],
    code: `
      const app = fastify();
      app.register(cookie);
      const options = { secret: "x".repeat(32), cookie: { secure: false, maxAge: 600_000 } };
      app.register(session, { ...options, ...(store && { store }) });
      app.get("/shape", async (request) => [[String(app.decorateRequest)], ...[request.session, request.sessionStore].map(shapeOf)]);
      app.get("/", async (request) => {
        request.session.user = { username: "ada" };
        request.session.views = (request.session.views ?? 0) + 1;
        return String(request.session.views);
      });
      app.listen({ port: 0, host: "127.0.0.1" }).then(() => console.log("port " + app.server.address().port + ";"));
    `,
  },
  koa: {
    imports: [
      ["Koa", "koa"],
      ["{ createSession, SessionOptions }", "koa-session"],
    ],
    code: `
      const app = new Koa();
      app.keys = ["x"];
      const options = { maxAge: 600_000, ...(store && { store }) };
      app.use(createSession(options, app));
      app.use((ctx) => {
        if (ctx.path === "/shape") {
          ctx.body = [SessionOptions, store ?? {}].map(shapeOf);
          return;
        }
        ctx.session.user = { username: "ada" };
        ctx.session.views = (ctx.session.views ?? 0) + 1;
        ctx.body = String(ctx.session.views);
      });
      const server = app.listen(0, "127.0.0.1", () => console.log("port " + server.address().port + ";"));
    `,
  },
  "better-auth": {
    imports: [
      ["{ createServer }", "node:http"],
      ["{ betterAuth }", "better-auth"],
      ["{ memoryAdapter }", "better-auth/adapters/memory"],
      ["{ fromNodeHeaders }", "better-auth/node"],
    ],
    code: `
      const user = { email: "ada@example.org", password: "long enough", name: "Ada" };
      const ready = store.api.signUpEmail({ body: user });
      const views = new Map();
      const server = createServer(async (req, res) => {
        const storage = globalThis[Symbol.for("better-auth:global")].context.endpointContextAsyncStorage;
        if (req.url === "/shape") return res.end(JSON.stringify(shapeOf(storage).filter(([key]) => !key.includes("["))));
        if (req.url !== "/") return res.writeHead(404).end();
        await ready;
        const found = await store.api.getSession({ headers: fromNodeHeaders(req.headers) });
        if (found === null) {
          const answer = await store.api.signInEmail({ body: user, asResponse: true });
          res.setHeader("set-cookie", answer.headers.getSetCookie());
          return res.end("1");
        }
        views.set(found.session.id, (views.get(found.session.id) ?? 1) + 1);
        res.end(String(views.get(found.session.id)));
      });
      server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port + ";"));
    `,
  },
} as const;

export const EXPRESS: SessionApplication = {
  framework: "express",
  format: "ESM",
  kind: "express-session",
  explicitSetup: "const store = new session.MemoryStore();",
  adapter: ["expressSessions", "adapters/sessions/express-session/index.ts"],
};

export const FASTIFY: SessionApplication = {
  framework: "fastify",
  format: "CommonJS",
  kind: "fastify-session",
  explicitSetup: "const store = new session.MemoryStore();",
  adapter: ["fastifySessions", "adapters/sessions/fastify/index.ts"],
};

export const KOA: SessionApplication = {
  framework: "koa",
  format: "ESM",
  setup: `
    const texts = new Map();
    const store = {
      get: async (id) => texts.has(id) ? JSON.parse(texts.get(id)) : undefined,
      set: async (id, session) => void texts.set(id, JSON.stringify(session)),
      destroy: async (id) => void texts.delete(id),
    };
  `,
  kind: "koa-session",
  adapter: ["koaSessions", "adapters/sessions/koa/index.ts"],
};

export const BETTER_AUTH: SessionApplication = {
  framework: "better-auth",
  format: "ESM",
  setup: `
    const store = betterAuth({
      baseURL: "http://127.0.0.1",
      secret: "Nnvn4IlWcRMVkEXn3sRPDGY4mOEcTDMp",
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      emailAndPassword: {
        enabled: true,
        autoSignIn: false,
        password: { hash: async (password) => password, verify: async ({ hash, password }) => hash === password },
      },
      telemetry: { enabled: false },
      logger: { disabled: true },
    });
  `,
  username: "ada@example.org",
  kind: "better-auth",
  adapter: ["betterAuthSessions", "adapters/sessions/better-auth/index.ts"],
};

/** How a {@link SessionApplication} is run. */
export interface RunSessionOptions {
  readonly preload?: boolean;
  /** Where it runs, with all that it has stored. Default: a new folder. */
  readonly folder?: ApplicationFolder;
  /** Whether it is bundled into one file. */
  readonly bundle?: boolean;
  /** Whether it makes its own actuator. */
  readonly explicit?: boolean;
}

/** A browser: it returns what the application answers, and keeps its cookies. */
export type Visit = (path?: string) => Promise<string>;

export interface RunningSessions extends RunningApplication {
  readonly folder: ApplicationFolder;
  browser(): Promise<Visit>;
  /** Calls an RPC of the service of sessions at the socket. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  rpc(method: string, body: object): Promise<any>;
  /** What is described, and its sessions, without what differs from run to run. */
  shown(): Promise<object>;
}

export function runSessions(
  application: SessionApplication,
  { preload = true, bundle = false, explicit = false, folder: given }: RunSessionOptions = {},
): RunningSessions {
  const {
    framework,
    format,
    username = "ada",
    imports = [],
    setup = "const store = undefined;",
    packages,
    env = {},
  } = application;
  const { imports: own, code } = FRAMEWORKS[framework];
  const bound = [...own, ...imports].map(([binding, from]) => importing(format, binding, from));
  const wired = explicit ? wiring(application) : "";
  const made = explicit ? (application.explicitSetup ?? setup) : setup;
  const text = [...bound, CODE, made, wired, code, application.code].join("\n");
  const script = format === "ESM" ? "shop.mjs" : "shop.cjs";
  const folder = given ?? applicationFolder({ [script]: text }, packages);
  const entry = bundle ? "bundle.cjs" : script;
  if (bundle) {
    const [source, outfile] = [join(folder.folder, script), join(folder.folder, entry)];
    buildSync({ entryPoints: [source], outfile, bundle, platform: "node", format: "cjs", logLevel: "error" });
  }
  const running = (preload ? runApplication : runPlain)(folder, entry, { env });
  const port = async () => {
    await running.said(";");
    return Number(/port (\d+);/.exec(running.output().stdout)![1]);
  };
  const rpc = async (method: string, body: object) => {
    const path = `/actuator.v3.SessionsService/${method}`;
    const request = http.request({ socketPath: running.socket, path, method: "POST", agent: false });
    request.setHeader("content-type", "application/json").end(JSON.stringify(body));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let answer = "";
    for await (const chunk of response.setEncoding("utf8")) answer += chunk;
    return JSON.parse(answer);
  };
  return {
    ...running,
    folder,
    rpc,
    async browser() {
      const url = `http://127.0.0.1:${await port()}`;
      const jar = new Map<string, string>();
      return async (path = "/") => {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(url + path, { headers: { cookie } });
        for (const line of response.headers.getSetCookie()) {
          const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
          jar.set(name!, value!);
        }
        return response.text();
      };
    },
    async shown() {
      const { shows } = await running.describe();
      return {
        kinds: shows.sessions,
        ofUser: withoutRun(await rpc("ListSessions", { username })),
        ofOther: withoutRun(await rpc("ListSessions", { username: "bob" })),
        all: withoutRun(await rpc("ListSessions", { includeTotal: true })),
        unknown: await rpc("GetSession", { id: "00000000-0000-4000-8000-000000000000" }),
      };
    },
  };
}

function importing(format: Format, binding: string, from: string): string {
  return format === "ESM"
    ? `import ${binding} from ${JSON.stringify(from)};`
    : `const ${binding} = require(${JSON.stringify(from)});`;
}

/** Code that shows `store` explicitly. */
export function wiring({ format, adapter: [name, path] }: Pick<SessionApplication, "format" | "adapter">): string {
  const source = (file: string) => new URL(`../../../src/${file}`, import.meta.url);
  const from = (file: string) => (format === "ESM" ? source(file).href : source(file).pathname);
  return [
    importing(format, "{ createActuator }", from("index.ts")),
    importing(format, `{ ${name} }`, from(path)),
    `const actuator = createActuator({ name: "shop", sessions: { store: ${name}(store), idKey: "of a test, and long enough" } });`,
  ].join("\n");
}

type Listed = { sessions?: Record<string, unknown>[] };

/** Ids and times differ from run to run; whether there is a time does not. */
function withoutRun(answer: Listed): object {
  const sessions = (answer.sessions ?? []).map(({ id: _, creationTime, lastAccessedTime, ...rest }) => ({
    ...rest,
    isCreationKnown: creationTime !== undefined,
    isAccessKnown: lastAccessedTime !== undefined,
  }));
  return { ...answer, sessions };
}

/** Two browsers with two requests each. */
export async function visited(running: RunningSessions): Promise<readonly Visit[]> {
  const browsers = [await running.browser(), await running.browser()];
  for (const visit of browsers) {
    expect(await visit()).toBe("1");
    expect(await visit()).toBe("2");
  }
  return browsers;
}

/**
 * Without a line of ours, an application shows what it shows with explicit wiring; a session that is ended ends; and detached, its
 * objects are as they are in an application that has never met us.
 */
export async function expectAsExplicit(application: SessionApplication): Promise<void> {
  const auto = runSessions(application);
  const browsers = await visited(auto);
  const shown = await auto.shown();
  expect(shown).toMatchObject({ kinds: [application.kind], ofUser: { sessions: [{}, {}] }, ofOther: { sessions: [] } });

  const explicit = runSessions(application, { explicit: true });
  await visited(explicit);
  expect(shown).toEqual(await explicit.shown());

  const { username = "ada" } = application;
  const { sessions } = await auto.rpc("ListSessions", { username });
  expect(await auto.rpc("GetSession", { id: sessions[0].id })).toMatchObject({ session: { username } });
  expect(await auto.rpc("DeleteSession", { id: sessions[0].id })).toEqual({ existed: true });
  expect((await Promise.all(browsers.map((visit) => visit()))).sort()).toEqual(["1", "3"]);

  await expectLeft(auto, application);
}

/** An application that runs already shows its sessions when their next requests come, and is left as it was. */
export async function expectAttached(application: SessionApplication): Promise<void> {
  const shop = runSessions(application, { preload: false });
  const browsers = await visited(shop);
  const { code, stderr } = await attachTo(shop.folder, shop.child.pid!);
  expect(code, stderr).toBe(0);
  for (const visit of browsers) expect(await visit()).toBe("3");
  expect(await shop.shown()).toMatchObject({ kinds: [application.kind], ofUser: { sessions: [{}, {}] } });
  const { sessions } = await shop.rpc("ListSessions", { username: application.username ?? "ada" });
  expect(await shop.rpc("DeleteSession", { id: sessions[0].id })).toEqual({ existed: true });
  expect((await Promise.all(browsers.map((visit) => visit()))).sort()).toEqual(["1", "4"]);
  await expectLeft(shop, application);
}

/** Detached, what the application made is as in one that was never looked at. */
async function expectLeft(detached: RunningSessions, application: SessionApplication): Promise<void> {
  const without = runSessions(application, { preload: false });
  await visited(without);
  expect(await detached.line(LINES.detachRestoring)).toEqual({});
  const [left, before] = await Promise.all([detached, without].map(async (each) => (await each.browser())("/shape")));
  expect(JSON.parse(left!)).toEqual(JSON.parse(before!));
  const isOurs = /^(\{.*"msg":"audit".*|Debugger .*|For help, see: .*)\n/gm;
  expect(detached.output().stderr.replaceAll(isOurs, "")).toBe(without.output().stderr);
}
