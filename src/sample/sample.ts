import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expressSessions } from "../adapters/sessions/express-session/index.ts";
import {
  ActuatorError,
  type ActuatorOptions,
  type Configuration,
  configuration,
  createActuator,
  type ListenOptions,
  memoryFleet,
} from "../index.ts";
import { loggers } from "./loggers.ts";
import { type SampleOptions, StartError } from "./options.ts";
import { flow } from "./order-flow.ts";
import { sessionStore, shopServer } from "./shop.ts";
import { runTraffic } from "./traffic.ts";

/** The running sample. */
export interface Sample {
  /** The address of the actuator, such as `http://127.0.0.1:9001`. */
  readonly actuator: string;
  /** The address of the shop, such as `http://127.0.0.1:8080`. */
  readonly shop: string;
  /** The actuator's page, such as `http://127.0.0.1:9001/actuator/ui/`; undefined if the configuration leaves it out. */
  readonly page: string | undefined;
  /** Sends visitors and orders, unless the options forbid it. */
  open(): void;
  /** Finishes open requests and ends. */
  close(): Promise<void>;
}

const DRAIN_DEADLINE_MS = 5_000;
const GROUPS = { web: ["shop.web", "shop.customers"], money: ["shop.orders.payment", "shop.orders.failures"] };

/**
 * Starts the shop and its actuator.
 *
 * @throws StartError if one of the two cannot listen.
 */
export async function startSample({ port, host, shopPort, traffic, config }: SampleOptions): Promise<Sample> {
  const { actuator, listen, pagePath } = await orStartError(async () => {
    const { options, listen } = configured({ port, host }, config);
    const { ui = true, basePath = "/actuator" } = options;
    return { actuator: createActuator(options), listen, pagePath: ui ? `${basePath}/ui/` : undefined };
  });
  const address = await orStartError(() => actuator.listen(listen));
  const server = shopServer();
  const shop = await listenOn(server, shopPort);
  const closing = new AbortController();
  let visitors: Promise<void> | undefined;

  return {
    actuator: address.url,
    shop,
    page: pagePath && address.url + pagePath,
    open() {
      if (traffic) visitors ??= runTraffic(shop, closing.signal);
    },
    async close() {
      closing.abort();
      await Promise.all([visitors, drain(server), actuator.close()]);
    },
  };
}

/** The options of the actuator; a configuration file overrides them. */
function configured(listen: ListenOptions, file: string | undefined): Pick<Configuration, "options" | "listen"> {
  const options: ActuatorOptions = {
    name: "shop",
    version: "1.0.0",
    loggers: { adapters: [loggers], groups: GROUPS },
    // The sessions end with the process, so that the key of their ids may end with it, too.
    sessions: { store: expressSessions(sessionStore), idKey: randomBytes(32) },
    integrationGraph: flow,
    // Of this process alone; ACTUATOR_FLEET_REDIS, with --config, makes it one of several.
    fleet: memoryFleet(),
    otlp: true,
    mcp: true,
    metrics: true,
    access: "loopback",
  };
  // Only this name grants log records, which may contain personal data: those of this shop do not.
  const open = { ...options, access: { anonymous: ["*", "logs:read"] } } as const;
  return file === undefined ? { options: open, listen } : configuration({ options, listen, file });
}

async function orStartError<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof ActuatorError)) throw error;
    const { field } = error.metadata;
    const isOption = field === "port" || field === "host";
    throw new StartError(`${error.message}${isOption ? ` (here: npm start -- --${field} <${field}>)` : ""}`, {
      cause: error,
    });
  }
}

/** Closes the shop; open requests have until the deadline. */
async function drain(server: Server): Promise<void> {
  const cutOff = setTimeout(() => server.closeAllConnections(), DRAIN_DEADLINE_MS);
  server.close();
  server.closeIdleConnections();
  await once(server, "close");
  clearTimeout(cutOff);
}

async function listenOn(server: Server, port: number): Promise<string> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === "EADDRINUSE" ? "is already in use" : "cannot be listened on";
    const hint = `choose another: npm start -- --shop-port ${port + 1}`;
    throw new StartError(`port ${port} on 127.0.0.1 ${reason}; ${hint}`, { cause });
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
