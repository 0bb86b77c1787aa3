import { createHash } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import express from "express";
import session from "express-session";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import { expressSessions } from "../src/adapters/sessions/express-session/index.ts";
import { IntegrationGraphService } from "../src/gen/actuator/v3/integration_graph_pb.ts";
import { Level } from "../src/gen/actuator/v3/level_pb.ts";
import { LoggersService } from "../src/gen/actuator/v3/loggers_pb.ts";
import { SessionsService } from "../src/gen/actuator/v3/sessions_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../src/gen/grpc/health/v1/health_pb.ts";
import {
  type ActuatorOptions,
  type AuditRecord,
  createActuator,
  integrationGraph,
  type LevelChange,
  memorySessions,
} from "../src/index.ts";
import { authority } from "./support/certificates.ts";
import { grpcClient, transportOver, WIRES } from "./support/rpc-harness.ts";
import { eventually, http1Request, http2Connect, http2Request } from "./support/server-harness.ts";
import { tokensFor } from "./support/tokens.ts";

async function serveActuator(options: ActuatorOptions) {
  const actuator = createActuator(options);
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return { actuator, ...(await actuator.listen({ port: 0 })) };
}

const json = { "content-type": "application/json" };

test("three services over every protocol and REST on one port, about the same things", async () => {
  const lines: { msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const adapter = pinoLoggers(logger);
  const orders = logger.child({ logger: "shop.orders" });
  const store = memorySessions();
  const { id } = store.put({ username: "ada", attributeNames: ["cart"] });
  const graph = integrationGraph({ app: "shop" });
  graph.channel("orders");
  const { url } = await serveActuator({
    name: "shop",
    version: "1.2.3",
    loggers: { adapters: [adapter], groups: { web: ["http", "router"] } },
    sessions: { store, ids: "raw" },
    integrationGraph: graph,
  });

  const { _links: links } = JSON.parse((await http1Request(`${url}/actuator`)).body);
  expect(Object.keys(links)).toEqual(
    "self health info loggers loggers-name sessions sessions-sessionId integrationgraph".split(" "),
  );
  expect(JSON.parse((await http1Request(`${url}/actuator/info`)).body)).toMatchObject({
    name: "shop",
    version: "1.2.3",
  });

  orders.debug("silent");
  const body = '{"configuredLevel":"debug"}';
  expect(
    (await http1Request(`${url}/actuator/loggers/shop.orders`, { method: "POST", headers: json, body })).status,
  ).toBe(204);
  orders.debug("loud");
  expect(lines.map(({ msg }) => msg)).toEqual(["loud"]);

  for (const wire of WIRES) {
    const transport = transportOver(wire, url);
    const { result } = await createClient(LoggersService, transport).getLogger({ name: "shop.orders" });
    expect(result.value).toMatchObject({ name: "shop.orders", configuredLevel: Level.DEBUG, kind: "pino" });
    const { session } = await createClient(SessionsService, transport).getSession({ id });
    expect(session).toMatchObject({ id, username: "ada" });
    const { nodes } = await createClient(IntegrationGraphService, transport).getIntegrationGraph({});
    expect(nodes.map(({ name }) => name)).toEqual(["orders"]);
  }
  const session = await http2Connect(url);
  for (const [path, part] of [
    ["/actuator/loggers/web", { members: ["http", "router"] }],
    [`/actuator/sessions/${id}`, { id, attributeNames: ["cart"] }],
    ["/actuator/integrationgraph", { nodes: [{ name: "orders" }] }],
  ] as const) {
    expect(JSON.parse((await http2Request(session, { ":path": path })).body)).toMatchObject(part);
  }
});

describe("what is left out", () => {
  const parts = [
    {
      name: "loggers",
      option: { loggers: {} },
      path: "/actuator/loggers",
      links: ["loggers", "loggers-name"],
      call: (url: string) => grpcClient(LoggersService, url).listLoggers({}),
    },
    {
      name: "sessions",
      option: { sessions: memorySessions() },
      path: "/actuator/sessions?username=ada",
      links: ["sessions", "sessions-sessionId"],
      call: (url: string) => grpcClient(SessionsService, url).listSessions({ username: "ada" }),
    },
    {
      name: "integration graph",
      option: { integrationGraph: integrationGraph({ app: "shop" }).graph },
      path: "/actuator/integrationgraph",
      links: ["integrationgraph"],
      call: (url: string) => grpcClient(IntegrationGraphService, url).getIntegrationGraph({}),
    },
  ];

  test.each([...parts, { name: "nothing", option: {}, path: "", links: [] }])(
    "with $name alone, the others are not there",
    async ({ option, path, links }) => {
      const { url, actuator } = await serveActuator(option);
      const index = JSON.parse((await http1Request(`${url}/actuator`)).body);
      expect(Object.keys(index._links)).toEqual(["self", "health", "info", ...links]);
      for (const part of parts) {
        const status = (await http1Request(url + part.path)).status;
        const code = await part.call(url).then(
          () => 0,
          (error) => error.code,
        );
        expect({ status, code }).toEqual(
          part.path === path ? { status: 200, code: 0 } : { status: 404, code: Code.Unimplemented },
        );
      }
      const { loggers, sessions, integrationGraph } = actuator;
      expect([loggers, sessions, integrationGraph].filter(Boolean).length).toBe(path === "" ? 0 : 1);
    },
  );
});

test("the application reads and sets levels as well, and serves under a path of its choice", async () => {
  const { actuator, url } = await serveActuator({ loggers: {}, basePath: "/manage/shop" });
  actuator.loggers!.setLevel("shop", "TRACE");
  const answer = await http1Request(`${url}/manage/shop/loggers/shop`);
  expect(JSON.parse(answer.body)).toEqual({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
  expect((await http1Request(`${url}/actuator`)).status).toBe(404);
});

test("only proxies on the list say what the index shows as its address", async () => {
  const { file, tokens } = tokensFor({ reader: { permissions: ["info:read"] } });
  const headers = {
    authorization: `Bearer ${tokens.reader}`,
    "x-forwarded-host": "shop.example.test",
    "x-forwarded-proto": "https",
  };
  const self = async (options: ActuatorOptions) => {
    const { url } = await serveActuator({ ...options, access: { tokens: file } });
    const { body } = await http1Request(`${url}/actuator`, { headers });
    return JSON.parse(body)._links.self.href.replace(url, "");
  };
  expect(await self({})).toBe("/actuator");
  expect(await self({ trustedProxies: ["10.0.0.0/8"] })).toBe("/actuator");
  expect(await self({ trustedProxies: ["10.0.0.0/8", "127.0.0.0/8"] })).toBe("https://shop.example.test/actuator");
});

const failing = {
  kind: "failing",
  findById: () => Promise.reject(new Error("first line\nforged: second line\u2028third")),
  delete: () => Promise.resolve(false),
};

describe("a wrong option is named", () => {
  const adapterHint = "must be an adapter of a logging library, such as pinoLoggers(logger)";
  test.each<[options: unknown, message: string]>([
    [{ logger: {} }, 'Unknown option "createActuator.logger"; did you mean "loggers"?'],
    [{ Sessions: {} }, 'Unknown option "createActuator.Sessions"; did you mean "sessions"?'],
    [{ graph: {} }, 'Unknown option "createActuator.graph"; did you mean "integrationGraph"?'],
    [{ access: { token: "f" } }, 'Unknown option "createActuator.access.token"; did you mean "tokens"?'],
    [{ access: { jwt: { claims: { name: 5 } } } }, "createActuator.access.jwt.claims.name must be"],
    [
      { access: { certificates: [{ commonName: 5 }] } },
      "createActuator.access.certificates entry 0.commonName must be",
    ],
    [{ base_path: "/x" }, 'Unknown option "createActuator.base_path"; did you mean "basePath"?'],
    [
      { colour: "red" },
      'Unknown option "createActuator.colour"; known options: name, version, loggers, logs, sessions,',
    ],
    [
      { loggers: { kind: "pino", attach: () => () => {} } },
      "createActuator.loggers must be an object of options such as { adapters: [pinoLoggers(logger)] }, not an adapter",
    ],
    [
      { loggers: pinoLoggers(pino()) },
      "createActuator.loggers must be an object of options such as { adapters: [pinoLoggers(logger)] }, not an adapter",
    ],
    [{ loggers: { adapter: [] } }, 'Unknown option "createActuator.loggers.adapter"; did you mean "adapters"?'],
    [
      { loggers: [] },
      "createActuator.loggers must be an object of options such as { adapters: [pinoLoggers(logger)] }, not a list",
    ],
    [{ loggers: { adapters: pinoLoggers(pino()) } }, "createActuator.loggers.adapters must be a list"],
    [{ loggers: { adapters: [pino()] } }, `createActuator.loggers.adapters entry 0 ${adapterHint}`],
    [{ loggers: { groups: [] } }, "createActuator.loggers.groups must be an object of lists of logger names"],
    [
      { loggers: { groups: { web: "http" } } },
      "createActuator.loggers.groups must be an object of lists of logger names",
    ],
    [{ loggers: { maxCreated: -1 } }, "createActuator.loggers.maxCreated must be a whole number of at least 0"],
    [{ sessions: new Map() }, "createActuator.sessions must be a session store, such as expressSessions(store)"],
    [{ sessions: null }, "createActuator.sessions must be a session store"],
    [{ sessions: { ids: "raw" } }, "createActuator.sessions must be a session store"],
    [{ sessions: { store: undefined } }, "createActuator.sessions must be a session store"],
    [{ sessions: { store: {} } }, "createActuator.sessions.store must be a session store"],
    [{ sessions: { store: memorySessions(), id: "raw" } }, 'Unknown option "createActuator.sessions.id"; did you mean'],
    [{ sessions: { store: memorySessions(), ids: "plain" } }, 'createActuator.sessions.ids must be "hashed" or "raw"'],
    [
      { sessions: { store: memorySessions(), idKey: "fifteen letters" } },
      "createActuator.sessions.idKey must be a random string of at least 16 characters, or as many bytes",
    ],
    [{ sessions: { store: memorySessions(), idKey: Buffer.alloc(15) } }, "createActuator.sessions.idKey must be"],
    [
      { sessions: { store: memorySessions(), maxShown: -1 } },
      "createActuator.sessions.maxShown must be a whole number",
    ],
    [
      { sessions: { store: memorySessions(), attributes: { allowed: [] } } },
      'Unknown option "createActuator.sessions.attributes.allowed"; did you mean "allow"?',
    ],
    [
      { sessions: { store: memorySessions(), attributes: { deny: [/x/] } } },
      "createActuator.sessions.attributes.deny entry 0 must be a non-empty string",
    ],
    [{ sessions: { store: { ...failing, bearerIds: true }, ids: "raw" } }, "bearer tokens and cannot be shown"],
    [{ integrationGraph: {} }, "createActuator.integrationGraph must be what integrationGraph({ app }) gave"],
    [{ basePath: "actuator" }, 'createActuator.basePath must be a path such as "/actuator"'],
    [{ basePath: "/" }, 'createActuator.basePath must be a path such as "/actuator"'],
    [{ trustedProxies: "10.0.0.0/8" }, "createActuator.trustedProxies must be a list"],
    [{ trustedProxies: ["proxy"] }, "createActuator.trustedProxies entry 0 must be an IP address or a network"],
    [
      { limits: { drainDeadline: 5 } },
      'Unknown option "createActuator.limits.drainDeadline"; did you mean "drainDeadlineMs"?',
    ],
    [
      { limits: { maxConnections: "many" } },
      "createActuator.limits.maxConnections must be a whole number of at least 0",
    ],
    [
      { limits: { protocolTimeoutMs: 2 ** 31 } },
      "createActuator.limits.protocolTimeoutMs must be a whole number of mill",
    ],
    [{ loggers: { maxHistory: 2.5 } }, "createActuator.loggers.maxHistory must be a whole number of at least 0"],
    [{ loggers: { defaultTtlMs: 0 } }, "createActuator.loggers.defaultTtlMs must be a number of milliseconds above 0"],
    [{ name: "" }, "createActuator.name must be a non-empty string"],
    [{ metrics: "yes" }, "createActuator.metrics must be true, false or an object of options"],
    [{ onError: "console" }, "createActuator.onError must be a function"],
    [null, "createActuator must be an object of options such as { name, version, loggers, … }, not null"],
  ])("%j", (options, message) => {
    expect(() => createActuator(options as ActuatorOptions)).toThrow(
      expect.objectContaining({
        name: "ActuatorError",
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("everything that is wrong is told at once, however deep", () => {
    const options = {
      nmae: "shop",
      heartbeatMs: -1,
      access: { tokens: 5, jwt: { isuer: "i", claims: { name: 5 } } },
      admin: { url: "admin", username: "a" },
      limits: { maxConections: 1 },
      metrics: { durationBuckets: "x" },
      sessions: { ids: "plain" },
      otlp: true,
    };
    const lines = [
      'Unknown option "createActuator.nmae"; did you mean "name"?',
      "createActuator.heartbeatMs must be",
      "createActuator.access.tokens must be a non-empty string",
      'Unknown option "createActuator.access.jwt.isuer"; did you mean "issuer"?',
      "createActuator.access.jwt.claims.name must be a string or a list of strings",
      "createActuator.admin.url must be an address",
      'Unknown option "createActuator.limits.maxConections"; did you mean "maxConnections"?',
      "createActuator.metrics.durationBuckets must be",
      "createActuator.sessions must be a session store",
      'createActuator.sessions.ids must be "hashed" or "raw"',
      "createActuator.admin.name must be set, because the application has no",
      "createActuator.otlp needs an integrationGraph",
    ];
    const create = () => createActuator(options as unknown as ActuatorOptions);
    const expected = lines.map((line) => `${line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}[^\n]*`).join("\n");
    expect(create).toThrow(new RegExp(`^${expected}$`));
    expect(create).toThrow(expect.objectContaining({ metadata: { field: "createActuator.nmae" } }));
  });

  test("an option of undefined is left out", () => {
    expect(createActuator({ loggers: undefined, name: undefined, limits: undefined }).loggers).toBeUndefined();
  });
});

test("the audit says who changed what and who looked at whose sessions, and holds no secret", async () => {
  const records: AuditRecord[] = [];
  const store = memorySessions();
  const { id } = store.put({ username: "ada" });
  const { url } = await serveActuator({
    loggers: {},
    sessions: { store, ids: "raw" },
    audit: (record) => void records.push(record),
  });
  await http1Request(`${url}/actuator/loggers`);
  await http1Request(`${url}/actuator/loggers/orders`, {
    method: "POST",
    headers: json,
    body: '{"configuredLevel":"WARN"}',
  });
  await http1Request(`${url}/actuator/loggers/orders`, {
    method: "POST",
    headers: json,
    body: '{"configuredLevel":"?"}',
  });
  await http1Request(`${url}/actuator/sessions?username=ada`);
  await grpcClient(SessionsService, url).getSession({ id });
  await grpcClient(LoggersService, url).setLoggerLevel({ name: "orders", level: Level.INFO });
  await grpcClient(SessionsService, url).deleteSession({ id });
  const told = records.map(({ who, operation, protocol, result, target }) => [
    who,
    operation,
    protocol,
    result,
    target,
  ]);
  const session = createHash("sha256").update(id).digest("hex").slice(0, 12);
  const who = "127.0.0.1";
  expect(told).toEqual([
    [who, "POST /loggers/{name}", "rest", "OK", { logger: "orders", level: "WARN" }],
    [who, "POST /loggers/{name}", "rest", "INVALID_ARGUMENT", { logger: "orders" }],
    [who, "GET /sessions", "rest", "OK", { username: "ada" }],
    [who, "actuator.v3.SessionsService/GetSession", "grpc", "OK", { session }],
    [who, "actuator.v3.LoggersService/SetLoggerLevel", "grpc", "OK", { logger: "orders", level: "INFO" }],
    [who, "actuator.v3.SessionsService/DeleteSession", "grpc", "OK", { session }],
  ]);
  expect(JSON.stringify(records)).not.toContain(id);
});

test.each([
  [{ host: "0.0.0.0" }, 1],
  [{ host: "127.0.0.1" }, 0],
  [{ host: "[::1]" }, 0],
  [{}, 0],
])("tokens on a port without TLS, at %j: %i warnings", async (listen, warnings) => {
  const errors: string[] = [];
  const actuator = createActuator({
    access: { tokens: tokensFor({ all: { permissions: ["*"] } }).file },
    onError: (error) => void errors.push(String(error)),
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  await actuator.listen({ port: 0, ...listen });
  expect(errors.filter((error) => /tokens are sent unencrypted/.test(error))).toHaveLength(warnings);
});

test("without access control no other host is listened on, and a client certificate is access control", async () => {
  const actuator = createActuator({ loggers: {}, audit: false });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  await expect(actuator.listen({ port: 0, host: "0.0.0.0" })).rejects.toMatchObject({ reason: "HOST_NOT_LOOPBACK" });
  const { ca, issue } = await authority();
  const { cert, key } = await issue("server");
  const tls = { cert, key, ca, clientCertificate: "require" } as const;
  const { port } = await actuator.listen({ port: 0, host: "0.0.0.0", tls });
  const client = { ...(await issue("client", { commonName: "ops" })), ca };
  const statusOf = (options: https.RequestOptions) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: "actuator.example" };
      https
        .get({ port, path: "/actuator/loggers", headers, agent: false, servername: "localhost", ...options })
        .on("response", (answer) => resolve(answer.resume().statusCode))
        .on("error", reject);
    });
  expect(await statusOf(client)).toBe(200);
  await expect(statusOf({ ca })).rejects.toThrow();
});

test("a store that hangs does not keep the actuator from ending", async () => {
  const errors: string[] = [];
  const store = { findById: async () => undefined, detach: () => new Promise<void>(() => {}) };
  const actuator = createActuator({
    sessions: Object.assign(Object.create(memorySessions()), store),
    onError: (error, context) => void errors.push(`${context}: ${error}`),
  });
  await actuator.listen({ port: 0 });
  await actuator.close();
  expect(errors).toEqual(["sessions: ActuatorError: The session store did not detach within 5000 ms."]);
});

describe("an internal error", () => {
  test("is one line on the console, and not told to the caller", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const { url } = await serveActuator({ access: "loopback", audit: false, sessions: { store: failing, ids: "raw" } });
    const answer = await http1Request(`${url}/actuator/sessions/secret-id`);
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("line");
    expect(printed.mock.calls).toEqual([
      ["connect-actuator: GET /actuator/sessions/{sessionId}: Error: first line forged: second line third"],
    ]);
  });

  test("may break the one who hears of it, too", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const onError = () => {
      throw new Error("the log is closed");
    };
    const { url } = await serveActuator({
      access: "loopback",
      audit: false,
      sessions: { store: failing, ids: "raw" },
      onError,
    });
    expect((await http1Request(`${url}/actuator/sessions/a`)).status).toBe(500);
    await expect(grpcClient(SessionsService, url).getSession({ id: "a" })).rejects.toMatchObject({
      code: Code.Internal,
    });
    expect(printed.mock.calls.length).toBe(4);
    expect(printed.mock.calls[1]).toEqual(["connect-actuator: onError: Error: the log is closed"]);
  });
});

test("a stream is never silent for longer than the application says", async () => {
  const { url } = await serveActuator({ loggers: {}, heartbeatMs: 20 });
  const kinds: (string | undefined)[] = [];
  for await (const { event } of grpcClient(LoggersService, url).watchLoggers({})) {
    kinds.push(event.case);
    if (kinds.length === 3) break;
  }
  expect(kinds).toEqual(["snapshot", "heartbeat", "heartbeat"]);
});

test("an adapter that cannot be attached leaves none of the others attached", () => {
  const logger = pino({}, { write: () => {} });
  const failing = {
    kind: "failing",
    attach: () => {
      throw new Error("no library");
    },
  };
  const adapter = pinoLoggers(logger);
  expect(() => createActuator({ loggers: { adapters: [adapter, failing] } })).toThrow("no library");
  expect(() => createActuator({ loggers: { adapters: [adapter] } })).not.toThrow();
});

describe("a change of level", () => {
  test("is one line on the standard error, and told to the application", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    const heard: LevelChange[] = [];
    const onLevelChange = (change: LevelChange) => void heard.push(change);
    const { url } = await serveActuator({ loggers: { onLevelChange } });
    const body = '{"configuredLevel":"debug"}';
    await http1Request(`${url}/actuator/loggers/a`, { method: "POST", headers: json, body });
    expect(heard).toMatchObject([{ name: "a", level: "DEBUG", kind: "SET" }]);
    const lines = written.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("newLevel"));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ logger: "a", newLevel: "DEBUG" }]);
  });

  test("over REST is for a time, where the application wants it so", async () => {
    const { actuator, url } = await serveActuator({ loggers: { temporaryRestLevels: true, logLevelChanges: false } });
    const body = '{"configuredLevel":"debug"}';
    await http1Request(`${url}/actuator/loggers/a`, { method: "POST", headers: json, body });
    expect(actuator.loggers!.get("a")?.override?.expireTime).toBeGreaterThan(Date.now());
  });

  test("stands where the listener of the application throws, and is no line where none is wanted", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    const errors: unknown[] = [];
    const onLevelChange = () => {
      throw new Error("the chat is closed");
    };
    const actuator = createActuator({
      loggers: { onLevelChange, logLevelChanges: false },
      onError: (error, context) => errors.push([String(error), context]),
    });
    actuator.loggers!.setLevel("a", "DEBUG");
    expect(actuator.loggers!.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
    expect(errors).toEqual([["Error: the chat is closed", "loggers.onLevelChange"]]);
    expect(written).not.toHaveBeenCalled();
  });
});

describe("close", () => {
  test("ends temporary levels in the logging library, and keeps those that were meant to stay", async () => {
    const logger = pino({}, { write: () => {} });
    const adapter = pinoLoggers(logger);
    const [passing, staying] = ["passing", "staying"].map((name) => logger.child({ name }));
    const actuator = createActuator({ loggers: { adapters: [adapter], logLevelChanges: false } });
    actuator.loggers!.setLevel("passing", "DEBUG", { ttlMs: 60_000 });
    actuator.loggers!.setLevel("staying", "DEBUG");
    await actuator.close();
    expect([passing!.level, staying!.level]).toEqual(["info", "debug"]);
  });

  test("waits for the session store to be left, and reports what goes wrong there", async () => {
    let left = false;
    const detach = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      left = true;
    };
    const findById = async () => undefined;
    await createActuator({ sessions: { kind: "slow", findById, detach } }).close();
    expect(left).toBe(true);

    const errors: unknown[] = [];
    const broken = { kind: "broken", findById, detach: () => Promise.reject(new Error("lost")) };
    await createActuator({ sessions: broken, onError: (...told) => errors.push(told.map(String)) }).close();
    expect(errors).toEqual([["Error: lost", "sessions"]]);
  });

  test("leaves the session store as it was", async () => {
    const store = new session.MemoryStore();
    const actuator = createActuator({ sessions: expressSessions(store) });
    expect(Object.hasOwn(store, "set")).toBe(true);
    await actuator.close();
    expect(Object.hasOwn(store, "set")).toBe(false);
  });

  test("leaves the logging library as it was, but for its levels", async () => {
    const logger = pino();
    const before = Object.getOwnPropertyNames(logger);
    const adapter = pinoLoggers(logger);
    const actuator = createActuator({ loggers: { adapters: [adapter] } });
    logger.child({ logger: "early" });
    expect(actuator.loggers!.get("early")).toBeDefined();
    actuator.loggers!.setLevel("ROOT", "DEBUG");
    await actuator.close();
    logger.child({ logger: "late" });
    expect(actuator.loggers!.get("late")).toBeUndefined();
    expect(logger.level).toBe("debug");
    expect(Object.getOwnPropertyNames(logger)).toEqual(before);
  });

  test("may be called twice, before listen and after a failed one", async () => {
    const { port } = await serveActuator({});
    const actuator = createActuator({});
    await expect(actuator.listen({ port })).rejects.toThrow("choose another with the `port` option");
    await Promise.all([actuator.close(), actuator.close()]);
    await actuator.close();
    await createActuator({}).close();
  });

  test("is the end: nothing listens after it that never did before", async () => {
    const actuator = createActuator({});
    await actuator.close();
    await expect(actuator.listen({ port: 0 })).rejects.toMatchObject({ reason: "ACTUATOR_CLOSED" });
  });

  test("does not begin to listen where it is closed in the midst of that", async () => {
    const actuator = createActuator({});
    const listening = actuator.listen({ port: 0 });
    await Promise.all([expect(listening).rejects.toMatchObject({ reason: "ACTUATOR_CLOSED" }), actuator.close()]);
  });

  test("on a server of the application's it ends watches and turns the health, and the server goes on", async () => {
    const actuator = createActuator({ access: "loopback", loggers: {} });
    const application = express().use(actuator.handler);
    application.get("/", (_, res) => void res.send("the application"));
    const server = application.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;

    const seen: unknown[] = [];
    const watching = (async () => {
      const client = createClient(Health, createConnectTransport({ baseUrl: url, httpVersion: "1.1" }));
      for await (const { status } of client.watch({})) seen.push(status);
    })().catch((error) => seen.push(Code[error.code]));
    await eventually(
      () => seen.length === 1,
      () => "no answer to the watch",
    );
    await actuator.close();
    await watching;
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, "Unavailable"]);
    expect(await http1Request(`${url}/actuator/health`)).toMatchObject({
      status: 503,
      body: '{"status":"OUT_OF_SERVICE"}',
    });
    expect((await http1Request(url)).body).toBe("the application");
  });
});

test("under load over every protocol, close loses no answer to a change that was made", async () => {
  const { actuator, url } = await serveActuator({ loggers: { logLevelChanges: false } });
  const answered = new Set<string>();
  const refused: string[] = [];
  let names = 0;

  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const session = await http2Connect(url);
  const body = '{"configuredLevel":"debug"}';
  const path = (name: string) => `/actuator/loggers/${name}`;
  const clients: ((name: string) => Promise<unknown>)[] = [
    async (name) => {
      const { status } = await http1Request(url + path(name), { method: "POST", headers: json, body, agent });
      expect(status).toBe(204);
    },
    async (name) => {
      const { status } = await http2Request(session, { ":method": "POST", ":path": path(name), ...json, body });
      expect(status).toBe(204);
    },
    ...WIRES.map((wire) => {
      const client = createClient(LoggersService, transportOver(wire, url));
      return (name: string) => client.setLoggerLevel({ name, level: Level.DEBUG });
    }),
  ];
  const load = clients.flatMap((change, client) =>
    Array.from({ length: 4 }, async () => {
      for (let failures = 0; failures < 3; ) {
        const name = `load-${client}-${++names}`;
        try {
          await change(name);
          answered.add(name);
        } catch (error) {
          if ((error as Error).name === "AssertionError") throw error;
          refused.push(name);
          failures++;
        }
      }
    }),
  );
  await eventually(
    () => clients.every((_, client) => [...answered].filter((name) => name.startsWith(`load-${client}-`)).length > 20),
    () => `${answered.size} answers`,
  );
  await actuator.close();
  await Promise.all(load);

  const changed = actuator
    .loggers!.history({ limit: 100_000 })
    .flatMap(({ kind, name }) => (kind === "SET" ? name : []));
  expect(new Set(changed)).toEqual(answered);
  expect(refused.length).toBeGreaterThan(0);
});
