import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { createSession } from "koa-session";
import type { KoaStore } from "../../src/koa-session/index.ts";

/** A browser: it keeps the cookies that it is given. */
export interface Browser {
  post(path: string): Promise<Response>;
  get(path: string): Promise<Response>;
  /** The session id that the cookie carries. */
  readonly sessionId: string | undefined;
}

/** A real Koa application with real sessions in `store`. */
export interface TestApplication {
  browser(): Browser;
  close(): Promise<void>;
}

export interface TestOptions {
  readonly maxAge?: number | "session";
  readonly rolling?: boolean;
  readonly beforeBasket?: () => Promise<unknown>;
}

type Handler = (session: Record<string, unknown> & { regenerate(): Promise<void> }, user: string) => unknown;

/** A store as applications write one: JSON by key. */
export class JsonStore implements KoaStore {
  readonly texts = new Map<string, string>();
  readonly calls: string[] = [];

  async get(key: string): Promise<unknown> {
    this.calls.push("get");
    const text = this.texts.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  async set(key: string, session: object): Promise<void> {
    this.calls.push("set");
    this.texts.set(key, JSON.stringify(session));
  }

  async destroy(key: string): Promise<void> {
    this.calls.push("destroy");
    this.texts.delete(key);
  }
}

/** Starts the application on a free port of the loopback interface. */
export async function startApplication(store: KoaStore, options: TestOptions = {}): Promise<TestApplication> {
  const { maxAge = 60_000, rolling = false, beforeBasket = async () => {} } = options;
  const app = new Koa();
  app.keys = ["of a test"];
  app.silent = true;
  app.use(createSession({ store: store as never, maxAge, rolling }, app) as unknown as Koa.Middleware);
  const handlers: Readonly<Record<string, Handler>> = {
    async basket(session) {
      await beforeBasket();
      session.basket = ["pear"];
    },
    async login(session, user) {
      await session.regenerate();
      session.user = { username: user };
    },
    become(session, user) {
      session.user = { username: user };
    },
  };
  app.use(async (ctx) => {
    const [, action = "", user = ""] = ctx.path.split("/");
    if (action === "logout") ctx.session = null;
    else await handlers[action]?.(ctx.session as never, user);
    ctx.body = { user: ctx.session?.user?.username ?? null };
  });
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    browser: () => browser(base),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function browser(base: string): Browser {
  const cookies = new Map<string, string>();
  async function send(method: string, path: string): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(base + path, { method, headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    await response.clone().arrayBuffer();
    return response;
  }
  return {
    get: (path) => send("GET", path),
    post: (path) => send("POST", path),
    get sessionId() {
      return cookies.get("koa.sess");
    },
  };
}
