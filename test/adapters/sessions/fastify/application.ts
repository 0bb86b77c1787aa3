import fastifyCookie from "@fastify/cookie";
import fastifySession, { type FastifySessionOptions } from "@fastify/session";
import fastify from "fastify";
import { Browser } from "../../../support/browser.ts";

declare module "fastify" {
  interface Session {
    user?: { username: string };
    basket?: string[];
  }
}

/** A real Fastify application with real sessions. */
export interface TestApplication {
  browser(): Browser;
  close(): Promise<void>;
}

/** Starts the application on a free port of the loopback interface. */
export async function startApplication(
  options: Omit<FastifySessionOptions, "secret">,
  beforeBasket: () => Promise<unknown> = async () => {},
): Promise<TestApplication> {
  const app = fastify({ forceCloseConnections: true });
  await app.register(fastifyCookie);
  await app.register(fastifySession, {
    secret: "of a test, and long enough for the library",
    saveUninitialized: false,
    ...options,
    cookie: { secure: false, ...options.cookie },
  });
  app.get("/", async (request) => ({ user: request.session.user?.username ?? null }));
  app.post("/basket", async (request) => {
    await beforeBasket();
    request.session.basket = ["pear"];
    return {};
  });
  app.post<{ Params: { user: string } }>("/login/:user", async (request) => {
    await request.session.regenerate();
    request.session.user = { username: request.params.user };
    return {};
  });
  app.post<{ Params: { user: string } }>("/become/:user", async (request) => {
    request.session.user = { username: request.params.user };
    return {};
  });
  app.post("/logout", async (request) => {
    await request.session.destroy();
    return {};
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return { browser: () => new Browser(base, /=([^.]+)\./), close: () => app.close() };
}
