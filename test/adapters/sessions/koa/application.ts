import Koa from "koa";
import { createSession } from "koa-session";
import type { KoaStore } from "../../../../src/adapters/sessions/koa/index.ts";
import { Browser } from "../../../support/browser.ts";
import { startSite } from "../../../support/site.ts";

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
  const { base, close } = await startSite(app.callback());
  return { browser: () => new Browser(base, /koa\.sess=([^;]+)/), close };
}
