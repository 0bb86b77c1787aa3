import { once } from "node:events";
import http from "node:http";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../../../src/gen/actuator/v3/sessions_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import {
  errorInfo,
  libraryOf,
  serveRpc,
  silentStore,
  transportOver,
  WIRES,
  type Wire,
} from "../../support/rpc-harness.ts";
import { eventually, http1Request, http2Connect, http2Request } from "../../support/server-harness.ts";

async function serveAll() {
  const loggers = new Loggers({ groups: { web: ["http", "router"] } });
  loggers.attach(libraryOf(Array.from({ length: 200 }, (_, index) => `shop.part${index}`)));
  return serveRpc({ loggers, sessions: new Sessions(silentStore(), { ids: "raw" }) });
}

/** How each protocol tells the server a deadline. Sent by hand, so that it is the server and not the client who keeps it. */
function deadlineHeader({ protocol }: Wire, ms: number): Record<string, string> {
  return protocol.startsWith("Connect") ? { "connect-timeout-ms": `${ms}` } : { "grpc-timeout": `${ms}m` };
}

/** The name of the header that tells the compression of a response. */
function encodingHeader({ protocol }: Wire): string {
  return protocol.startsWith("Connect") ? "content-encoding" : "grpc-encoding";
}

interface Case {
  readonly name: string;
  /** Why the case does not exist on a wire. */
  readonly absent?: (wire: Wire) => string | undefined;
  readonly run: (wire: Wire) => Promise<void>;
}

const cases: readonly Case[] = [
  {
    name: "unary",
    async run(wire) {
      const { url, requests } = await serveAll();
      const loggers = createClient(LoggersService, transportOver(wire, url));
      const changed = await loggers.setLoggerLevel({ name: "shop.part1", level: Level.DEBUG });
      expect(changed.result).toMatchObject({ case: "logger", value: { configuredLevel: Level.DEBUG } });
      const { result } = await loggers.getLogger({ name: "shop.part1" });
      expect(result).toMatchObject({ case: "logger", value: { name: "shop.part1", effectiveLevel: Level.DEBUG } });
      const version = wire.httpVersion === "2" ? "2.0" : "1.1";
      expect(requests.map(({ httpVersion }) => httpVersion)).toEqual([version, version]);
    },
  },
  {
    name: "error with details",
    async run(wire) {
      const { url, errors } = await serveAll();
      const call = createClient(LoggersService, transportOver(wire, url)).getLogger({ name: "nobody" });
      const error = await call.catch(ConnectError.from);
      expect(error).toMatchObject({ code: Code.NotFound, rawMessage: "No logger and no group has this name." });
      expect(errorInfo(error as ConnectError)).toEqual({
        reason: "LOGGER_NOT_FOUND",
        domain: "connect-actuator",
        metadata: { field: "name" },
      });
      expect(errors).toEqual([]);
    },
  },
  {
    name: "cancel of a stream",
    async run(wire) {
      const { url, health, errors } = await serveAll();
      const abort = new AbortController();
      const watch = createClient(Health, transportOver(wire, url)).watch({}, { signal: abort.signal });
      const answers = watch[Symbol.asyncIterator]();
      expect((await answers.next()).value).toMatchObject({ status: ServingStatus.SERVING });
      expect(health.listeners).toBe(1);
      abort.abort();
      await expect(answers.next()).rejects.toMatchObject({ code: Code.Canceled });
      await eventually(
        () => health.listeners === 0,
        () => `${health.listeners} listeners`,
      );
      expect(errors).toEqual([]);
    },
  },
  {
    name: "deadline of a call whose work never ends",
    async run(wire) {
      const { url, errors } = await serveAll();
      const sessions = createClient(SessionsService, transportOver(wire, url));
      const call = sessions.getSession({ id: "1" }, { headers: deadlineHeader(wire, 50) });
      await expect(call).rejects.toMatchObject({ code: Code.DeadlineExceeded });
      expect(errors).toEqual([]);
    },
  },
  {
    name: "deadline of a stream",
    async run(wire) {
      const { url, health } = await serveAll();
      const client = createClient(Health, transportOver(wire, url));
      const answers = client.watch({}, { headers: deadlineHeader(wire, 100) })[Symbol.asyncIterator]();
      await answers.next();
      await expect(answers.next()).rejects.toMatchObject({ code: Code.DeadlineExceeded });
      await eventually(
        () => health.listeners === 0,
        () => `${health.listeners} listeners`,
      );
    },
  },
  {
    name: "GET",
    absent: ({ protocol }) => (protocol.startsWith("Connect") ? undefined : `${protocol} has POST only`),
    async run(wire) {
      const { url, requests } = await serveAll();
      const loggers = createClient(LoggersService, transportOver(wire, url, { useHttpGet: true }));
      const { result } = await loggers.getLogger({ name: "ROOT" });
      expect(result).toMatchObject({ case: "logger", value: { name: "ROOT" } });
      await loggers.setLoggerLevel({ name: "ROOT", level: Level.WARN });
      expect(requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
    },
  },
  {
    name: "gzip both ways",
    async run(wire) {
      const { url } = await serveAll();
      const gzip = { acceptCompression: [compressionGzip], sendCompression: compressionGzip, compressMinBytes: 0 };
      const loggers = createClient(LoggersService, transportOver(wire, url, gzip));
      let header = new Headers();
      const listed = await loggers.listLoggers({ namePrefix: "shop.part" }, { onHeader: (got) => void (header = got) });
      expect(listed.loggers).toHaveLength(200);
      expect(header.get(encodingHeader(wire))).toBe("gzip");
    },
  },
];

/** A GET in a protocol that has none is refused before anything is read. */
async function refusesGet({ protocol, httpVersion }: Wire): Promise<void> {
  const { url } = await serveAll();
  const path = "/actuator.v3.LoggersService/GetLogger";
  const headers = { "content-type": protocol === "gRPC" ? "application/grpc" : "application/grpc-web+proto" };
  if (httpVersion === "1.1") {
    expect((await http1Request(`${url}${path}`, { headers })).status).toBe(415);
    return;
  }
  expect((await http2Request(await http2Connect(url), { ":path": path, ...headers })).status).toBe(415);
}

describe.each(WIRES)("$protocol over HTTP/$httpVersion", (wire) => {
  for (const { name, absent, run } of cases) {
    const reason = absent?.(wire);
    if (reason === undefined) test(name, () => run(wire));
    else test(`no ${name}: ${reason}`, () => refusesGet(wire));
  }
});

test("gRPC over HTTP/1.1, which no client speaks, is answered with trailers all the same", async () => {
  const { url } = await serveAll();
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const req = http.request(`${url}/grpc.health.v1.Health/Check`, { method: "POST", headers });
  req.end(Buffer.from([0, 0, 0, 0, 0]));
  const [res] = (await once(req, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk);
  expect([...Buffer.concat(chunks)]).toEqual([0, 0, 0, 0, 2, 8, ServingStatus.SERVING]);
  expect(res.trailers).toMatchObject({ "grpc-status": "0" });
});
