import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import session from "express-session";
import { nodeHttp } from "../common/node-http.ts";
import { logger } from "./loggers.ts";
import { placeOrder } from "./order-flow.ts";
import { type Line, PRICES } from "./stock.ts";

declare module "express-session" {
  interface SessionData {
    user?: { username: string };
    cart?: Line[];
  }
}

const log = {
  web: logger("shop.web"),
  catalogue: logger("shop.catalogue"),
  cart: logger("shop.cart"),
  customers: logger("shop.customers"),
};

/** The sessions of the visitors. */
export const sessionStore = new session.MemoryStore();

/** Creates the web server of the shop, which does not listen yet. */
export function shopServer(): Server {
  const app = express();
  app.disable("x-powered-by");
  app.use(logRequest);
  app.use(
    session({
      store: sessionStore,
      name: "shop",
      secret: randomBytes(32).toString("base64url"),
      resave: false,
      saveUninitialized: false,
      cookie: { maxAge: 15 * 60_000, sameSite: "lax" },
    }),
  );
  app.use(express.urlencoded({ extended: false, limit: "4kb", parameterLimit: 10 }));
  routes(app);
  app.use((_: Request, response: Response) => {
    response.status(404).json({ error: "no such page" });
  });
  app.use(answerError);
  return nodeHttp().createServer(app);
}

function routes(app: Express): void {
  app.get("/", (_, response) => {
    log.catalogue.debug("catalogue shown");
    response.json({ products: PRICES });
  });

  // This is a sample: the shop does not ask for a password.
  app.post("/login", (request, response, next) => {
    const username: unknown = request.body?.username;
    if (typeof username !== "string" || !/^[a-z]{1,20}$/.test(username)) {
      response.status(400).json({ error: "username: 1 to 20 letters from a to z" });
      return;
    }
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.user = { username };
      log.customers.debug({ username }, "logged in");
      response.json({ username });
    });
  });

  app.get("/account", (request, response) => {
    const { user, cart = [] } = request.session;
    if (user === undefined) response.status(401).json({ error: "not logged in" });
    else response.json({ username: user.username, cart });
  });

  app.post("/cart", (request, response) => {
    const product: unknown = request.body?.product;
    if (typeof product !== "string" || !Object.hasOwn(PRICES, product)) {
      response.status(400).json({ error: `product: one of ${Object.keys(PRICES).join(", ")}` });
      return;
    }
    request.session.cart = [...(request.session.cart ?? []), { product, quantity: 1 }].slice(-20);
    log.cart.debug({ product, lines: request.session.cart.length }, "put into the cart");
    response.json({ cart: request.session.cart });
  });

  app.post("/orders", (request, response) => {
    const { user, cart = [] } = request.session;
    if (cart.length === 0) {
      response.status(400).json({ error: "the cart is empty" });
      return;
    }
    delete request.session.cart;
    const order = placeOrder(user?.username ?? "guest", cart, false);
    response.status(order.accepted ? 202 : 409).json(order);
  });

  app.post("/logout", (request, response, next) => {
    const username = request.session.user?.username;
    request.session.destroy((error) => {
      if (error) return next(error);
      log.customers.debug({ username }, "logged out");
      response.status(204).end();
    });
  });
}

function logRequest(request: Request, response: Response, next: NextFunction): void {
  response.once("finish", () => {
    log.web.debug({ method: request.method, path: request.path, status: response.statusCode }, "request answered");
  });
  next();
}

function answerError(error: { status?: number }, request: Request, response: Response, next: NextFunction): void {
  const status = error.status ?? 500;
  if (status >= 500) log.web.error({ err: error, method: request.method, path: request.path }, "request failed");
  if (response.headersSent) next(error);
  else response.status(status).json({ error: status >= 500 ? "the shop failed" : "the request is invalid" });
}
