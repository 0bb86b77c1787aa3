// @module-tag slow
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { type CallOptions, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { IntegrationGraphService } from "../../src/gen/actuator/v3/integration_graph_pb.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { applicationFolder, runApplication } from "../support/auto-application.ts";

/** Ends when nothing is left to do; `SIGUSR2` ends what it has to do, and it says what else there is. */
const SHOP = `
import { pino } from "pino";
const log = pino();
globalThis.orders = log.child({ module: "shop.orders" });
const work = setInterval(() => {}, 1000);
process.once("SIGUSR2", () => {
  clearInterval(work);
  setTimeout(() => console.log("left:", process.getActiveResourcesInfo().join()));
});
console.log("ready");
`;

/** Where a client reaches the application. */
interface Target {
  /** A new connection. */
  connect(): net.Socket;
  readonly httpOptions: http.RequestOptions;
}

/** Leaves something open at the application; resolves when it is. */
type Client = (target: Target) => Promise<unknown>;

const json = { "content-type": "application/json" };

const clients: Readonly<Record<string, Client>> = {
  "a connection that was kept": async ({ httpOptions }) => {
    const agent = new http.Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [response] = await once(http.get({ ...httpOptions, path: "/actuator/loggers", agent }), "response");
    await response
      .resume()
      .once("end", () => {})
      .toArray();
  },
  "a request without the end of its headers": async ({ connect }) => {
    connect().write("GET /actuator HTTP/1.1\r\n");
  },
  "a request without its body": async ({ httpOptions }) => {
    const headers = { ...json, "content-length": 100, expect: "100-continue" };
    const path = "/actuator/loggers/ROOT";
    const request = http.request({ ...httpOptions, path, method: "POST", headers, agent: false });
    onTestFinished(() => void request.destroy());
    request.on("error", () => {}).flushHeaders();
    await once(request, "continue");
  },
  "an idle HTTP/2 connection": async ({ connect }) => {
    const session = http2.connect("http://localhost", { createConnection: connect }).on("error", () => {});
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/actuator/loggers" });
    await stream.toArray();
  },
  "a half line": async ({ connect }) => {
    connect().write("connect-actuator desc");
  },
  "a level for ten minutes": async (target) => {
    const client = createClient(LoggersService, grpc(target));
    await client.setLoggerLevel({ name: "shop", level: Level.DEBUG, ttl: { seconds: 600n } });
  },
};

const grpc = ({ connect }: Target) =>
  createGrpcTransport({ baseUrl: "http://localhost", nodeOptions: { createConnection: connect } });
const transports: Readonly<Record<string, (target: Target) => Transport>> = {
  gRPC: grpc,
  "gRPC-Web": ({ httpOptions }) =>
    createGrpcWebTransport({ baseUrl: "http://localhost", httpVersion: "1.1", nodeOptions: httpOptions }),
  Connect: ({ httpOptions }) =>
    createConnectTransport({ baseUrl: "http://localhost", httpVersion: "1.1", nodeOptions: httpOptions }),
  "Connect over HTTP/2": ({ connect }) =>
    createConnectTransport({
      baseUrl: "http://localhost",
      httpVersion: "2",
      nodeOptions: { createConnection: connect },
    }),
};
const streams: Readonly<Record<string, (transport: Transport, options: CallOptions) => AsyncIterable<unknown>>> = {
  "a watch of the loggers": (transport, options) => createClient(LoggersService, transport).watchLoggers({}, options),
  "a watch of the graph": (transport, options) =>
    createClient(IntegrationGraphService, transport).watchIntegrationGraph({}, options),
  "a held level": (transport, options) =>
    createClient(LoggersService, transport).holdLoggerLevel({ name: "shop", level: Level.DEBUG }, options),
  "a measurement": (transport, options) =>
    createClient(LoggersService, transport).measureLoggers({ duration: { seconds: 300n } }, options),
};

/** Opens a stream with a deadline that is far away, and reads its first message. */
function opening(stream: (typeof streams)[string], transport: (typeof transports)[string]): Client {
  return async (target) => {
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const options = { timeoutMs: 1_000_000, signal: ending.signal };
    const messages = stream(transport(target), options)[Symbol.asyncIterator]();
    await messages.next();
    void messages.next().catch(() => {});
  };
}

const opened = Object.entries(streams).flatMap(([stream, open], index) =>
  Object.entries(transports)
    // Each stream over gRPC, and the first over the others too.
    .filter(([protocol]) => protocol === "gRPC" || index === 0)
    .map(([protocol, transport]) => [`${stream} over ${protocol}`, opening(open, transport)] as const),
);

test.each([...Object.entries(clients), ...opened])("%s lets the application end", async (_, client) => {
  const folder = applicationFolder({ "shop.mjs": SHOP });
  const shop = runApplication(folder, "shop.mjs");
  await shop.describe();
  const connect = () => {
    const socket = net.connect(shop.socket).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  await client({ connect, httpOptions: { socketPath: shop.socket } });
  const alone = runApplication(folder, "shop.mjs", { preload: false });
  for (const each of [shop, alone]) {
    await each.said("ready");
    each.child.kill("SIGUSR2");
    expect(await each.exit()).toBe(0);
  }
  expect(shop.output().stdout).toBe(alone.output().stdout);
});
