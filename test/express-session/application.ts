import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import session, { type SessionOptions, type Store } from "express-session";

declare module "express-session" {
  interface SessionData {
    user?: { username: string };
    basket?: string[];
  }
}

/** A browser: it keeps the cookies that it is given. */
export interface Browser {
  post(path: string): Promise<Response>;
  get(path: string): Promise<Response>;
  /** The session id that the cookie carries. */
  readonly sessionId: string | undefined;
}

/** A real Express application with real sessions in `store`. */
export interface TestApplication {
  browser(): Browser;
  close(): Promise<void>;
}

/** Starts the application on a free port of the loopback interface. */
export async function startApplication(
  store: Store,
  cookie: NonNullable<SessionOptions["cookie"]> = { maxAge: 60_000 },
  beforeBasket: () => Promise<unknown> = async () => {},
  options: Pick<SessionOptions, "resave" | "rolling"> = {},
): Promise<TestApplication> {
  const app = express();
  app.use(session({ store, cookie, secret: "of a test", resave: false, saveUninitialized: false, ...options }));
  app.get("/", (request, response) => {
    response.json({ user: request.session.user?.username ?? null });
  });
  app.post("/basket", async (request, response) => {
    await beforeBasket();
    request.session.basket = ["pear"];
    response.end();
  });
  app.post("/login/:user", (request, response, next) => {
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.user = { username: request.params.user };
      response.end();
    });
  });
  app.post("/logout", (request, response, next) => {
    request.session.destroy((error) => (error ? next(error) : response.end()));
  });
  const server = createServer(app).listen(0, "127.0.0.1");
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
  let cookie = "";
  async function send(method: string, path: string): Promise<Response> {
    const response = await fetch(base + path, { method, headers: cookie === "" ? {} : { cookie } });
    cookie = response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? cookie;
    await response.clone().arrayBuffer();
    return response;
  }
  return {
    get: (path) => send("GET", path),
    post: (path) => send("POST", path),
    get sessionId() {
      return /=s:([^.]+)\./.exec(decodeURIComponent(cookie))?.[1];
    },
  };
}
