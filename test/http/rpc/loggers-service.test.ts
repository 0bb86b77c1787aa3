import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  ListLoggersRequestSchema,
  type ListLoggersResponse,
  ListLoggersResponseSchema,
  LoggersService,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import { levelFromProto, levelToProto } from "../../../src/http/rpc/logger-proto.ts";
import { loggersService } from "../../../src/http/rpc/loggers-service.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { LEVELS } from "../../../src/loggers/level.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { nativeHandle } from "../../support/native-handle.ts";
import { errorInfo, grpcClient, libraryOf, serveRpc } from "../../support/rpc-harness.ts";

async function serveLoggers(names: readonly string[] = [], options?: Partial<RpcOptions>) {
  const loggers = new Loggers({ groups: { web: ["http", "router"], store: ["sql"] } });
  loggers.attach(libraryOf(names));
  const { url, errors } = await serveRpc({ loggers }, options);
  return { loggers, errors, url, client: grpcClient(LoggersService, url) };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `n${String(index).padStart(5, "0")}`);
const names = (responses: readonly ListLoggersResponse[]) =>
  responses.flatMap(({ loggers }) => loggers).map((l) => l.name);
const failure = (call: Promise<unknown>) => call.then(() => undefined, ConnectError.from);

type List = Awaited<ReturnType<typeof serveLoggers>>["client"]["listLoggers"];

async function allPages(list: List, request: Parameters<List>[0]): Promise<ListLoggersResponse[]> {
  const pages: ListLoggersResponse[] = [];
  let pageToken = "";
  do {
    const page = await list({ ...request, pageToken });
    pages.push(page);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return pages;
}

describe("ListLoggers", () => {
  test("answers everything in one page without arguments: ROOT first, then by code unit", async () => {
    const { client, loggers } = await serveLoggers(["b", "a", "B", "ä", "a.x"]);
    loggers.setLevel("web", "DEBUG");
    const all = await client.listLoggers({});
    expect(names([all])).toEqual(["ROOT", "B", "a", "a.x", "b", "http", "router", "ä"]);
    expect(all.levels).toEqual([Level.OFF, Level.FATAL, Level.ERROR, Level.WARN, Level.INFO, Level.DEBUG, Level.TRACE]);
    expect(all.groups).toMatchObject([
      { name: "web", configuredLevel: Level.DEBUG, members: ["http", "router"] },
      { name: "store", configuredLevel: Level.UNSPECIFIED, members: ["sql"] },
    ]);
    expect(all.nextPageToken).toBe("");
    expect(all.revision).toBe(BigInt(loggers.revision));
  });

  test("shows what is known of a logger", async () => {
    const { client, loggers } = await serveLoggers();
    loggers.attach({
      kind: "pino",
      attach(host) {
        host.discovered(
          "shop",
          nativeHandle("WARN", (level) => (level === "TRACE" ? "DEBUG" : level)),
          "WARN",
        );
        host.warn("shop", "a transport keeps its own level info");
        return () => {};
      },
    });
    loggers.setLevel("shop", "TRACE");
    const { loggers: found } = await client.listLoggers({ namePrefix: "shop" });
    expect(found).toMatchObject([
      {
        name: "shop",
        configuredLevel: Level.TRACE,
        effectiveLevel: Level.DEBUG,
        baselineLevel: Level.WARN,
        kind: "pino",
        warnings: ["a transport keeps its own level info"],
      },
    ]);
  });

  test("filters by prefix and by configured level, groups too", async () => {
    const { client, loggers } = await serveLoggers(["shop.cart", "shop.pay", "stock"]);
    loggers.setLevel("shop.pay", "ERROR");
    loggers.setLevel("stock", "ERROR");
    loggers.setLevel("store", "WARN");
    const byPrefix = await client.listLoggers({ namePrefix: "s" });
    expect(names([byPrefix])).toEqual(["shop", "shop.cart", "shop.pay", "sql", "stock"]);
    expect(byPrefix.groups.map(({ name }) => name)).toEqual(["store"]);
    const configured = await client.listLoggers({ namePrefix: "s", configuredOnly: true });
    expect(names([configured])).toEqual(["shop.pay", "sql", "stock"]);
    expect(configured.groups.map(({ name }) => name)).toEqual(["store"]);
  });

  test("builds the plain overview once for a revision", () => {
    const loggers = new Loggers();
    const { listLoggers } = loggersService(loggers, undefined, { maxBytes: 1 << 20, heartbeatMs: 1_000 });
    const request = create(ListLoggersRequestSchema);
    const list = () => listLoggers(request, undefined as never) as ListLoggersResponse;
    const first = list();
    expect(list()).toBe(first);
    loggers.setLevel("a", "DEBUG");
    expect(names([list()])).toEqual(["ROOT", "a"]);
  });

  test.each([1, 7, 100, 1000])("pages of %i give everything once, groups on the first", async (pageSize) => {
    // By code unit "A" comes before "ROOT", which is first all the same.
    const { client } = await serveLoggers(["A", ...numbered(100)]);
    const pages = await allPages(client.listLoggers, { pageSize });
    expect(names(pages)).toEqual(["ROOT", "A", ...numbered(100)]);
    expect(pages.map(({ groups }) => groups.length)).toEqual(pages.map((_, index) => (index === 0 ? 2 : 0)));
    expect(Math.max(...pages.map(({ loggers }) => loggers.length))).toBeLessThanOrEqual(pageSize);
  });

  test("a page goes on where the last one ended though loggers came in between", async () => {
    const { client, loggers } = await serveLoggers(["b", "d", "f"]);
    const first = await client.listLoggers({ pageSize: 3 });
    expect(names([first])).toEqual(["ROOT", "b", "d"]);
    for (const name of ["a", "c", "e"]) loggers.setLevel(name, "INFO");
    const second = await client.listLoggers({ pageSize: 3, pageToken: first.nextPageToken });
    expect(names([second])).toEqual(["e", "f"]);
  });

  test("what exceeds the response limit comes in pages, each within it", async () => {
    const limit = 10_000;
    const { client } = await serveLoggers(numbered(2000), { writeMaxBytes: limit });
    const pages = await allPages(client.listLoggers, {});
    expect(names(pages)).toEqual(["ROOT", ...numbered(2000)]);
    const sizes = pages.map((page) => toBinary(ListLoggersResponseSchema, page).byteLength);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    expect(pages.length).toBeGreaterThan(2);
  });

  test("refuses page tokens that this list did not give out, and negative sizes", async () => {
    const { client } = await serveLoggers(numbered(10));
    const { nextPageToken: token } = await client.listLoggers({ pageSize: 2 });
    expect(token).not.toBe("");
    const refused: [reason: string, request: Parameters<List>[0]][] = [
      ["INVALID_PAGE_TOKEN", { pageToken: "garbage" }],
      ["INVALID_PAGE_TOKEN", { pageToken: Buffer.from("[1,2").toString("base64url") }],
      ["INVALID_PAGE_TOKEN", { pageToken: Buffer.from("{}").toString("base64url") }],
      ["INVALID_PAGE_TOKEN", { pageToken: `${token}=` }],
      ["INVALID_PAGE_TOKEN", { pageToken: token, namePrefix: "n" }],
      ["INVALID_PAGE_TOKEN", { pageToken: token, configuredOnly: true }],
      ["INVALID_PAGE_SIZE", { pageSize: -1 }],
    ];
    for (const [reason, request] of refused) {
      const error = await failure(client.listLoggers(request));
      expect([error?.code, error && errorInfo(error)?.reason], JSON.stringify(request)).toEqual([
        Code.InvalidArgument,
        reason,
      ]);
    }
  });
});

describe("GetLogger", () => {
  test("a group wins over a logger of its name", async () => {
    const { client } = await serveLoggers(["web", "shop"]);
    expect((await client.getLogger({ name: "web" })).result).toMatchObject({ case: "group", value: { name: "web" } });
    expect((await client.getLogger({ name: "shop" })).result).toMatchObject({
      case: "logger",
      value: { name: "shop" },
    });
    expect((await client.getLogger({ name: "root" })).result).toMatchObject({
      case: "logger",
      value: { name: "ROOT" },
    });
  });

  test.each([
    ["an unknown name", "nobody", Code.NotFound, "LOGGER_NOT_FOUND"],
    ["an empty name", "", Code.InvalidArgument, "INVALID_NAME"],
    ["a control character", "a\nb", Code.InvalidArgument, "INVALID_NAME"],
    ["a name that is too long", "x".repeat(513), Code.InvalidArgument, "INVALID_NAME"],
  ])("refuses %s", async (_, name, code, reason) => {
    const { client } = await serveLoggers();
    const error = await failure(client.getLogger({ name }));
    expect(error?.code).toBe(code);
    expect(errorInfo(error!)).toEqual({ reason, domain: "connect-actuator", metadata: { field: "name" } });
  });
});

describe("SetLoggerLevel and ClearLoggerLevel", () => {
  test("set, create and clear, and tell the level before", async () => {
    const { client, loggers } = await serveLoggers(["shop"]);
    const set = await client.setLoggerLevel({ name: "shop", level: Level.TRACE });
    expect(set).toMatchObject({
      result: { case: "logger", value: { configuredLevel: Level.TRACE } },
      previousLevel: Level.UNSPECIFIED,
      revision: BigInt(loggers.revision),
    });
    const created = await client.setLoggerLevel({ name: "new.logger", level: Level.OFF });
    expect(created.result).toMatchObject({ value: { name: "new.logger", effectiveLevel: Level.OFF } });
    const cleared = await client.clearLoggerLevel({ name: "shop" });
    expect(cleared).toMatchObject({
      result: { case: "logger", value: { configuredLevel: Level.UNSPECIFIED, effectiveLevel: Level.INFO } },
      previousLevel: Level.TRACE,
    });
  });

  test("a group changes its members", async () => {
    const { client, loggers } = await serveLoggers();
    const { result } = await client.setLoggerLevel({ name: "web", level: Level.DEBUG });
    expect(result).toMatchObject({ case: "group", value: { name: "web", configuredLevel: Level.DEBUG } });
    expect(loggers.get("router")).toMatchObject({ configuredLevel: "DEBUG" });
  });

  test.each([Level.UNSPECIFIED, 8, 99, -1])("the level %i is none to set", async (level) => {
    const { client, loggers } = await serveLoggers(["shop"]);
    const error = await failure(client.setLoggerLevel({ name: "shop", level: level as Level }));
    expect([error?.code, errorInfo(error!)?.metadata]).toEqual([Code.InvalidArgument, { field: "level" }]);
    expect(loggers.get("shop")).toMatchObject({ configuredLevel: undefined });
  });

  test.each(['"LEVEL_LOUD"', "99", '"DEBUG"', "null"])("the level %s in JSON is none to set", async (level) => {
    const { url, loggers } = await serveLoggers(["shop"]);
    const response = await fetch(`${url}/actuator.v3.LoggersService/SetLoggerLevel`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"name":"shop","level":${level}}`,
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, "invalid_argument"]);
    expect(loggers.get("shop")).toMatchObject({ configuredLevel: undefined });
  });

  test("if_revision makes a change conditional", async () => {
    const { client, loggers } = await serveLoggers(["shop"]);
    const before = BigInt(loggers.revision);
    await client.setLoggerLevel({ name: "shop", level: Level.WARN, ifRevision: before });
    for (const ifRevision of [before, 2n ** 64n - 1n]) {
      const set = await failure(client.setLoggerLevel({ name: "shop", level: Level.ERROR, ifRevision }));
      const clear = await failure(client.clearLoggerLevel({ name: "shop", ifRevision }));
      expect([set?.code, clear?.code]).toEqual([Code.FailedPrecondition, Code.FailedPrecondition]);
      expect(errorInfo(set!)?.reason).toBe("REVISION_CHANGED");
    }
    expect(loggers.get("shop")).toMatchObject({ configuredLevel: "WARN" });
  });
});

test("levels map to protobuf and back, and nothing else does", () => {
  expect(LEVELS.map(levelToProto).map(levelFromProto)).toEqual(LEVELS);
  expect(new Set(LEVELS.map(levelToProto)).size).toBe(LEVELS.length);
  expect(levelToProto(undefined)).toBe(Level.UNSPECIFIED);
  expect(levelFromProto(Level.UNSPECIFIED)).toBeUndefined();
});

test("a change of a name without a logger says so, and the list marks it", async () => {
  const { client } = await serveLoggers(["shop.orders"]);
  const notice = { code: "LOGGER_UNKNOWN", nearest: "shop.orders" };
  const set = await client.setLoggerLevel({ name: "orders", level: Level.DEBUG });
  expect(set.notices).toMatchObject([{ ...notice, message: expect.stringMatching(/^No logger is named orders yet/) }]);
  expect(set.result.value).toMatchObject({ settingOnly: true });
  for await (const { event } of client.holdLoggerLevel({ name: "orders", level: Level.TRACE })) {
    expect(event).toMatchObject({ case: "held", value: { notices: [notice] } });
    break;
  }
  const listed = await client.listLoggers({});
  expect(listed.loggers.filter(({ settingOnly }) => settingOnly).map(({ name }) => name)).toEqual(["orders"]);
  expect(await client.restoreLoggerLevel({ name: "orders" })).toMatchObject({ notices: [notice] });
  expect((await client.listLoggers({})).loggers.map(({ name }) => name)).toEqual(["ROOT", "shop", "shop.orders"]);
  expect((await client.setLoggerLevel({ name: "shop", level: Level.DEBUG })).notices).toEqual([]);
});
