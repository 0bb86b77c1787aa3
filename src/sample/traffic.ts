import { setTimeout as delay } from "node:timers/promises";
import { nodeHttp } from "../common/node-http.ts";
import { logger } from "./loggers.ts";
import { placeOrder, restock } from "./order-flow.ts";
import { PRICES } from "./stock.ts";

const log = { visits: logger("traffic.visits"), orders: logger("traffic.orders") };

const ORDER_INTERVAL = 1_000;
const VISIT_INTERVAL = 3_000;
const PRODUCTS = Object.keys(PRICES);

/** The visitors, and after how many rounds each logs out; Alice never does. */
const VISITORS = [
  { username: "alice", rounds: Number.POSITIVE_INFINITY },
  { username: "bob", rounds: 5 },
] as const;

/** Sends orders and visitors to the shop at `base` until `signal` is aborted. */
export async function runTraffic(base: string, signal: AbortSignal): Promise<void> {
  const running = [orderByTelephone(signal), ...VISITORS.map((visitor) => visit(base, visitor, signal))];
  await Promise.allSettled(running);
}

async function orderByTelephone(signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const lines = PRODUCTS.slice(turn % PRODUCTS.length).map((product, index) => ({
      product,
      quantity: 1 + ((turn + index) % 4),
    }));
    const order = placeOrder("telephone", lines, turn % 3 === 0);
    log.orders.trace(order, "order placed");
    if (turn % 4 === 0) restock();
    if (turn % 60 === 59) log.orders.info({ placed: turn + 1 }, "orders by telephone so far");
    await delay(ORDER_INTERVAL, undefined, { signal });
  }
}

async function visit(
  base: string,
  { username, rounds }: (typeof VISITORS)[number],
  signal: AbortSignal,
): Promise<void> {
  const browser = new Browser(base);
  signal.addEventListener("abort", () => browser.close(), { once: true });
  while (!signal.aborted) {
    try {
      await browser.post("/login", { username });
      log.visits.info({ username }, "came in");
      if (await stayLoggedIn(browser, rounds, signal)) {
        await browser.post("/logout");
        log.visits.info({ username }, "left");
      } else {
        log.visits.info({ username }, "was logged out by an operator");
      }
    } catch (error) {
      if (!signal.aborted) log.visits.warn({ username, reason: (error as Error).message }, "found the shop closed");
    }
    await delay(VISIT_INTERVAL, undefined, { signal });
  }
}

/** Browses and buys. Resolves to false as soon as the shop does not know the visitor any more. */
async function stayLoggedIn(browser: Browser, rounds: number, signal: AbortSignal): Promise<boolean> {
  for (let round = 0; round < rounds; round++) {
    await delay(VISIT_INTERVAL, undefined, { signal });
    if ((await browser.get("/account")).status === 401) return false;
    await browser.get("/");
    await browser.post("/cart", { product: PRODUCTS[round % PRODUCTS.length]! });
    if (round % 3 === 2) await browser.post("/orders");
  }
  return true;
}

/** The answer of the shop to one request. */
interface Page {
  readonly status: number;
}

/** The browser of one visitor, which keeps its connection and its cookie. */
class Browser {
  readonly #base: string;
  readonly #agent = new (nodeHttp().Agent)({ keepAlive: true, maxSockets: 1 });
  #cookie = "";

  constructor(base: string) {
    this.#base = base;
  }

  get(path: string): Promise<Page> {
    return this.#send("GET", path);
  }

  post(path: string, form: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#send("POST", path, new URLSearchParams(form).toString());
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string): Promise<Page> {
    const headers = {
      ...(this.#cookie === "" ? {} : { cookie: this.#cookie }),
      ...(body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    };
    return new Promise((resolve, reject) => {
      const sent = nodeHttp().request(
        new URL(path, this.#base),
        { method, headers, agent: this.#agent, timeout: 5000 },
        (response) => {
          this.#cookie = response.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? this.#cookie;
          response.once("error", reject);
          response.resume().once("end", () => resolve({ status: response.statusCode ?? 0 }));
        },
      );
      sent.once("timeout", () => sent.destroy(new Error("the shop did not answer")));
      sent.once("error", reject);
      sent.end(body);
    });
  }
}
