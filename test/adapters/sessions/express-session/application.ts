import express from "express";
import session, { type SessionOptions, type Store } from "express-session";
import { Browser } from "../../../support/browser.ts";
import { startSite } from "../../../support/site.ts";

declare module "express-session" {
  interface SessionData {
    user?: { username: string };
    basket?: string[];
  }
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
  const { base, close } = await startSite(app);
  return { browser: () => new Browser(base, /=s:([^.]+)\./), close };
}
