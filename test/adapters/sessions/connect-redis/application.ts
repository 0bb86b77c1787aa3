import { RedisStore } from "connect-redis";
import { RedisStore as RedisStore9 } from "connect-redis9";
import express from "express";
import session, { type SessionOptions } from "express-session";
import { createClient } from "redis";
import { onTestFinished } from "vitest";
import {
  type ConnectRedisOptions,
  type ConnectRedisSessions,
  connectRedisSessions,
} from "../../../../src/adapters/sessions/connect-redis/index.ts";
import { Browser } from "../../../support/browser.ts";
import { startSite } from "../../../support/site.ts";

export const VERSIONS = { "connect-redis 10": RedisStore, "connect-redis 9": RedisStore9 } as const;

type StoreOptions = Omit<ConstructorParameters<typeof RedisStore>[0], "client">;

export interface ApplicationOptions {
  readonly version?: keyof typeof VERSIONS;
  readonly store?: StoreOptions;
  readonly cookie?: NonNullable<SessionOptions["cookie"]>;
  /** false: an application that knows nothing of the actuator. */
  readonly sessions?: ConnectRedisOptions | false;
  /** What a request that fills its basket waits for. */
  readonly beforeBasket?: () => Promise<unknown>;
}

/** A real Express application whose sessions are in Redis. */
export interface RedisApplication {
  readonly base: string;
  readonly client: ReturnType<typeof newClient>;
  readonly store: RedisStore;
  readonly sessions: ConnectRedisSessions;
  browser(): Browser;
  close(): Promise<void>;
}

/** An application that closes with the test. */
export async function startForTest(url: string, options?: ApplicationOptions): Promise<RedisApplication> {
  const application = await startApplication(url, options);
  onTestFinished(() => application.close());
  return application;
}

export async function startApplication(url: string, options: ApplicationOptions = {}): Promise<RedisApplication> {
  const { version = "connect-redis 10", cookie = { maxAge: 60_000 }, beforeBasket = async () => {} } = options;
  const client = newClient(url);
  await client.connect();
  const store = new VERSIONS[version]({ ...options.store, client }) as RedisStore;
  const sessions = options.sessions === false ? undefined : connectRedisSessions(store, options.sessions);
  const app = express();
  app.use(session({ store, cookie, secret: "of a test", resave: false, saveUninitialized: false }));
  app.get("/", (request, response) => {
    response.json({ user: request.session.user?.username ?? null });
  });
  app.post("/basket", async (request, response) => {
    await beforeBasket();
    request.session.basket = [...(request.session.basket ?? []), "pear"];
    response.end();
  });
  app.post("/login/:user", (request, response, next) => {
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.user = { username: request.params.user };
      response.end();
    });
  });
  app.post("/become/:user", (request, response) => {
    request.session.user = { username: request.params.user };
    response.end();
  });
  app.post("/remember", (request, response) => {
    request.session.cookie.maxAge = 3_600_000;
    request.session.basket = [];
    response.end();
  });
  app.post("/logout", (request, response, next) => {
    request.session.destroy((error) => (error ? next(error) : response.end()));
  });
  // Express would print what a test brings about on purpose.
  app.use((_error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
    response.status(500).end();
  });
  const site = await startSite(app);
  return {
    base: site.base,
    client,
    store,
    sessions: sessions as ConnectRedisSessions,
    browser: () => new Browser(site.base, /=s:([^.]+)\./),
    async close() {
      await sessions?.detach?.();
      await site.close();
      client.destroy();
    },
  };
}

function newClient(url: string) {
  return createClient({ url }).on("error", () => {});
}
