import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import pino, { type Logger } from "pino";
import { onTestFinished } from "vitest";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import {
  type Actuator,
  type ActuatorOptions,
  createActuator,
  integrationGraph,
  memorySessions,
} from "../../src/index.ts";

/** A small application under a real actuator on a free port. */
export interface Shop {
  readonly url: string;
  readonly actuator: Actuator;
  /** pino's own loggers, by name: what they let through is what counts. */
  readonly native: Readonly<Record<string, Logger>>;
}

/** The names of its loggers, beside ROOT. */
const NAMES = ["orders", "orders-archive", "orders.payment", "orders.payment.cards", "refunds", "stock.payment"];

/** Serves the shop until the test ends. Alice is logged in with the session `alice-session`, and Bob with `-bobs`. */
export async function openShop(options: ActuatorOptions = {}): Promise<Shop> {
  const { actuator, native } = shop(options);
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return { url, actuator, native };
}

/** The shop mounted in an HTTP/1.1 server of its own, below a path, that asks for a token. */
export async function openGuardedShop(token: string): Promise<Shop> {
  const { actuator, native } = shop({ access: "loopback" });
  const server = http.createServer((req, res) => {
    if (req.headers.authorization !== `Bearer ${token}`) {
      res.writeHead(401).end();
      return;
    }
    req.url = req.url!.replace(/^\/manage(?=\/)/, "");
    actuator.handler(req, res);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await actuator.close({ deadlineMs: 0 });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/manage`, actuator, native };
}

const kept = new Set<object>();

function shop(options: ActuatorOptions): Pick<Shop, "actuator" | "native"> {
  const root = pino({ enabled: true }, { write: () => {} });
  const adapter = pinoLoggers(root);
  const native = Object.fromEntries(NAMES.map((name) => [name, root.child({ name })]));
  // Loggers are held weakly: those of a shop are there as long as its test.
  kept.add(native);
  onTestFinished(() => void kept.delete(native));
  const sessions = memorySessions();
  sessions.put({ id: "alice-session", username: "alice", attributeNames: ["cart", "user"] });
  sessions.put({ id: "-bobs", username: "bob" });
  const graph = integrationGraph({ app: "shop" });
  const incoming = graph.messageChannel("incoming");
  graph.filter("check", {
    input: incoming,
    output: graph.messageChannel("accepted"),
    discard: "rejected",
    error: "failures",
  });
  graph.serviceActivator("again", { input: "rejected", output: incoming });
  const actuator = createActuator({
    name: "shop",
    sessions: { store: sessions, ids: "raw" },
    integrationGraph: graph,
    ...options,
    loggers:
      "loggers" in options && options.loggers === undefined
        ? undefined
        : {
            adapters: [adapter],
            groups: { money: ["orders.payment", "refunds"] },
            instance: "shop-1",
            logLevelChanges: false,
            ...options.loggers,
          },
  });
  return { actuator, native };
}
