import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import cookie from "@fastify/cookie";
import fastifySessions from "@fastify/session";
import { betterAuth as makeBetterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import express from "express";
import session from "express-session";
import fastify from "fastify";
import Koa from "koa";
import { describe, expect, onTestFinished, test } from "vitest";
import { betterAuth } from "../../../src/auto/libraries/better-auth.ts";
import { expressSession } from "../../../src/auto/libraries/express-session.ts";
import { fastifySession } from "../../../src/auto/libraries/fastify-session.ts";
import { koaSession } from "../../../src/auto/libraries/koa-session.ts";
import type { Findings, Library } from "../../../src/auto/library.ts";
import type { SessionStore } from "../../../src/sessions/store.ts";
import { Browser } from "../../support/browser.ts";

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const require = createRequire(import.meta.url);
const exportsOf = (file: string) => require(join(modules, file));

/** What a library finds. */
class Found {
  readonly made: SessionStore[] = [];
  readonly #known = new WeakSet<object>();

  store(store: object, make: () => SessionStore): void {
    if (this.#known.has(store)) return;
    this.#known.add(store);
    this.made.push(make());
  }

  carefully(see: () => void): void {
    see();
  }

  get findings(): Findings {
    return this as unknown as Findings;
  }
}

/** What a request does with its session, after it may have waited. */
interface View {
  user?: unknown;
  views?: number;
}

function viewed(view: View): string {
  view.user = { username: "ada" };
  view.views = (view.views ?? 0) + 1;
  return String(view.views);
}

/** An application that was there before: `/` answers how often a session was seen, `/slow` does so when `gate` opens. */
interface Application {
  readonly server: Server;
  /** What is patched. */
  readonly objects: readonly object[];
}

type Waiting = (path: string) => Promise<unknown>;

const LIBRARIES: Readonly<
  Record<string, { library: Library; file: string; start(waiting: Waiting): Promise<Application> }>
> = {
  "express-session": {
    library: expressSession,
    file: "express-session/index.js",
    async start(waiting) {
      const store = new session.MemoryStore();
      const app = express();
      app.use(session({ store, secret: "x", resave: false, saveUninitialized: false, cookie: { maxAge: 60_000 } }));
      app.use(async (req, res) => {
        await waiting(req.path);
        res.end(viewed(req.session as View));
      });
      return { server: createServer(app), objects: [store, session.Store.prototype, session.Session.prototype] };
    },
  },
  "@fastify/session": {
    library: fastifySession,
    file: "@fastify/session/lib/session.js",
    async start(waiting) {
      const store = new fastifySessions.MemoryStore();
      const app = fastify({ forceCloseConnections: true });
      app.register(cookie);
      app.register(fastifySessions, { store, secret: "x".repeat(32), cookie: { secure: false, maxAge: 60_000 } });
      app.get("/*", async (request) => {
        await waiting(request.url);
        return viewed(request.session as View);
      });
      await app.ready();
      return { server: app.server, objects: [store, exportsOf("@fastify/session/lib/session.js").prototype] };
    },
  },
  "koa-session": {
    library: koaSession,
    file: "koa-session/dist/commonjs/context.js",
    async start(waiting) {
      const texts = new Map<string, string>();
      const store = {
        get: async (id: string) => (texts.has(id) ? JSON.parse(texts.get(id)!) : undefined),
        set: async (id: string, record: object) => void texts.set(id, JSON.stringify(record)),
        destroy: async (id: string) => void texts.delete(id),
      };
      const app = new Koa();
      app.keys = ["x"];
      app.use(require("koa-session").createSession({ store, maxAge: 60_000 }, app));
      app.use(async (ctx) => {
        await waiting(ctx.path);
        ctx.body = viewed(ctx.session as View);
      });
      const { prototype } = exportsOf("koa-session/dist/commonjs/context.js").ContextSession;
      return { server: createServer(app.callback()), objects: [store, prototype] };
    },
  },
};

const shapeOf = (objects: readonly object[]) => objects.map((object) => Object.getOwnPropertyDescriptors(object));

describe.for(Object.entries(LIBRARIES))("%s", ([, { library, file, start }]) => {
  test("shows a store that was there before, at its next request, and leaves it as it was", async () => {
    const [slow, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { server, objects } = await start(async (path) => {
      if (path !== "/slow") return;
      slow.resolve();
      await gate.promise;
    });
    if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const browser = () => new Browser(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, /=([^;]*)/);
    const [ada, other] = [browser(), browser()];
    const text = async (visiting: Promise<Response>) => (await visiting).text();
    expect(await text(ada.get("/"))).toBe("1");
    const before = shapeOf(objects);
    const underWay = ada.get("/slow");
    await slow.promise;

    const found = new Found();
    const stop = library.meet!(exportsOf(file), found.findings, file);
    expect(await text(other.get("/"))).toBe("1");
    expect(await text(other.get("/"))).toBe("2");
    gate.resolve();
    expect(await text(underWay)).toBe("2");

    expect(found.made).toHaveLength(1);
    const [store] = found.made as [SessionStore];
    const { sessions } = await store.findByUsername!("ada");
    // Which of them was made before is not known.
    expect(sessions).toMatchObject([{ creationTime: undefined }, { creationTime: undefined }]);
    for (const { id } of sessions) expect(await store.delete!(id)).toBe(true);
    expect(await Promise.all([text(ada.get("/")), text(other.get("/"))])).toEqual(["1", "1"]);

    stop();
    await store.detach!();
    expect(shapeOf(objects)).toEqual(before);
    expect(await text(ada.get("/"))).toBe("2");
  });
});

test("better-auth shows an instance that was there before when its next endpoint is called", async () => {
  const make = () =>
    makeBetterAuth({
      secret: "Nnvn4IlWcRMVkEXn3sRPDGY4mOEcTDMp",
      baseURL: "http://127.0.0.1",
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      emailAndPassword: { enabled: true, password: { hash: async (text) => text, verify: async () => true } },
      telemetry: { enabled: false },
      logger: { disabled: true },
    });
  const auth = make();
  await auth.api.signUpEmail({ body: { email: "ada@example.org", name: "Ada", password: "long enough" } });
  const found = new Found();
  const file = "@better-auth/core/dist/context/global.mjs";
  const exported = await import(join(modules, file));
  const storage = exported.__getBetterAuthGlobal().context.endpointContextAsyncStorage;
  const stop = betterAuth.watch(exported, found.findings, file);
  expect(await auth.api.getSession({ headers: new Headers() })).toBeNull();
  // As an application does that makes it for each request.
  expect(await make().api.getSession({ headers: new Headers() })).toBeNull();
  expect(found.made).toHaveLength(1);
  const { sessions } = await found.made[0]!.findByUsername!("ada@example.org");
  expect(sessions).toHaveLength(1);
  expect(await found.made[0]!.delete!(sessions[0]!.id)).toBe(true);
  expect(await found.made[0]!.findByUsername!("ada@example.org")).toMatchObject({ sessions: [] });
  stop();
  expect(Object.hasOwn(storage, "run")).toBe(false);
});

test("stores in the heap are recognised, prototypes and other objects are not", async () => {
  const used = new session.MemoryStore();
  session({ store: used, secret: "x", resave: false, saveUninitialized: false });
  const own = new fastifySessions.MemoryStore();
  const others = [
    session.MemoryStore.prototype,
    session.Store.prototype,
    fastifySessions.MemoryStore.prototype,
    {},
    [],
    new Map(),
  ];
  const found = new Found();
  const recognised = [used, own, ...others].map((object) =>
    [expressSession, fastifySession].map((library) => library.recognize!(object, found.findings, "")),
  );
  expect(recognised).toEqual([[true, false], [false, true], ...others.map(() => [false, false])]);
  expect(found.made.map(({ kind }) => kind)).toEqual(["express-session", "fastify-session"]);
  for (const each of found.made) await each.detach!();
});
