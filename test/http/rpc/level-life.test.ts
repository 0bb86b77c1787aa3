import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Level } from "../../../src/gen/actuator/v3/level_pb.ts";
import {
  LevelChange_Kind as Kind,
  ListLoggersResponseSchema,
  LoggersService,
  type Override,
} from "../../../src/gen/actuator/v3/loggers_pb.ts";
import type { RpcOptions } from "../../../src/http/rpc/rpc-options.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import type { LoggersOptions } from "../../../src/loggers/options.ts";
import { errorInfo, grpcClient, serveRpc } from "../../support/rpc-harness.ts";

async function serve(options: LoggersOptions = {}, rpc?: Partial<RpcOptions>) {
  const loggers = new Loggers({ instance: "i", ...options });
  const { url } = await serveRpc({ loggers }, rpc);
  return { loggers, client: grpcClient(LoggersService, url) };
}
const failure = (call: Promise<unknown>) => call.then(() => undefined, ConnectError.from);
const lasting = (override: Override | undefined) =>
  override?.expireTime && Number(override.expireTime.seconds - override.setTime!.seconds);

describe("SetLoggerLevel", () => {
  test.each([
    ["the default of the server, which is 10 minutes for DEBUG", Level.DEBUG, undefined, 600],
    ["the default of the server, which is for ever for WARN", Level.WARN, undefined, undefined],
    ["the time asked for", Level.DEBUG, { seconds: 90n, nanos: 0 }, 90],
    ["for ever, where that is allowed", Level.WARN, { seconds: 0n, nanos: 0 }, undefined],
  ] as const)("lasts %s", async (_, level, ttl, seconds) => {
    const { client } = await serve();
    const { result } = await client.setLoggerLevel({ name: "a", level, ...(ttl && { ttl }) });
    expect(result).toMatchObject({ case: "logger", value: { configuredLevel: level } });
    expect(lasting(result.value?.override)).toBe(seconds);
  });

  test.each([
    ["for ever, where that is not allowed", { seconds: 0n, nanos: 0 }],
    ["negative", { seconds: -1n, nanos: 0 }],
    ["negative by a nanosecond", { seconds: 0n, nanos: -1 }],
    ["longer than allowed", { seconds: 86_401n, nanos: 0 }],
  ] as const)("refuses a time that is %s", async (_, ttl) => {
    const { client, loggers } = await serve();
    const error = await failure(client.setLoggerLevel({ name: "a", level: Level.DEBUG, ttl }));
    expect(error).toMatchObject({ code: Code.InvalidArgument });
    expect(errorInfo(error!)).toMatchObject({ reason: "INVALID_TTL", metadata: { field: "ttl" } });
    expect(loggers.get("a")).toBeUndefined();
  });

  test("takes a time that rounds to nothing for short and not for ever, and gives the level back", async () => {
    const { client, loggers } = await serve();
    await client.setLoggerLevel({ name: "a", level: Level.DEBUG, ttl: { seconds: 0n, nanos: 1 } });
    await expect.poll(() => loggers.get("a")?.configuredLevel).toBeUndefined();
    const { changes } = await client.listLevelChanges({});
    expect(changes.map(({ kind }) => kind)).toEqual([Kind.EXPIRED, Kind.SET]);
  });

  test("notes why, and where", async () => {
    const { client } = await serve();
    await client.setLoggerLevel({ name: "a", level: Level.WARN, reason: "ticket 812" });
    const { result } = await client.getLogger({ name: "a" });
    expect(result.value?.override).toMatchObject({ actor: "127.0.0.1", reason: "ticket 812", instance: "i" });
    for (const reason of ["x".repeat(1_001), "two\nlines"]) {
      const error = await failure(client.clearLoggerLevel({ name: "a", reason }));
      expect(errorInfo(error!)).toMatchObject({ reason: "INVALID_REASON" });
    }
  });
});

describe("RestoreLoggerLevel and RestoreAllLoggerLevels", () => {
  test("take loggers and groups back, and say what was there", async () => {
    const { client, loggers } = await serve({ groups: { g: ["a", "b"] } });
    loggers.setLevel("g", "DEBUG");
    loggers.setLevel("c", "TRACE");
    expect(await client.restoreLoggerLevel({ name: "g" })).toMatchObject({
      result: { case: "group", value: { configuredLevel: Level.UNSPECIFIED, mixed: false } },
      previousLevel: Level.DEBUG,
    });
    expect(await client.restoreAllLoggerLevels({ reason: "over" })).toMatchObject({ restored: 1 });
    expect(loggers.get("c")).toBeUndefined();
    expect(await failure(client.restoreLoggerLevel({ name: "nope" }))).toMatchObject({ code: Code.NotFound });
  });
});

describe("ListLevelChanges", () => {
  test("pages from the newest on, while changes go on", async () => {
    const { client, loggers } = await serve();
    for (const level of ["DEBUG", "INFO", "WARN", "ERROR"] as const) loggers.setLevel("a", level);
    const first = await client.listLevelChanges({ name: "a", pageSize: 3 });
    loggers.setLevel("a", "TRACE");
    const second = await client.listLevelChanges({ name: "a", pageSize: 3, pageToken: first.nextPageToken });
    expect([first, second].map(({ changes }) => changes.map(({ level }) => level))).toEqual([
      [Level.ERROR, Level.WARN, Level.INFO],
      [Level.DEBUG],
    ]);
    expect(second.nextPageToken).toBe("");
  });

  test("tells what, how and by which revision", async () => {
    const { client, loggers } = await serve();
    const { revision } = loggers.setLevel("a", "DEBUG", { actor: "ann" });
    const { changes } = await client.listLevelChanges({});
    expect(changes).toMatchObject([
      {
        name: "a",
        previousLevel: Level.UNSPECIFIED,
        level: Level.DEBUG,
        override: { actor: "ann" },
        kind: Kind.SET,
        revision: BigInt(revision),
      },
    ]);
  });

  test.each([
    [{ name: "a\n" }, "INVALID_NAME"],
    [{ pageSize: -1 }, "INVALID_PAGE_SIZE"],
    [{ pageToken: "x" }, "INVALID_PAGE_TOKEN"],
  ])("refuses %j", async (request, reason) => {
    const { client } = await serve();
    expect(errorInfo((await failure(client.listLevelChanges(request)))!)).toMatchObject({ reason });
  });
});

test("a page of loggers stays within its bytes however long the reasons are", async () => {
  const maxBytes = 16 * 1024;
  const { client, loggers } = await serve({}, { writeMaxBytes: maxBytes });
  const reason = "€".repeat(1_000);
  for (let index = 0; index < 40; index++) loggers.setLevel(`a${index}`, "DEBUG", { reason, ttlMs: 60_000 });
  let pageToken = "";
  let count = 0;
  do {
    const page = await client.listLoggers({ pageToken });
    expect(toBinary(ListLoggersResponseSchema, page).length).toBeLessThanOrEqual(maxBytes);
    count += page.loggers.length;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(count).toBe(41);
});
