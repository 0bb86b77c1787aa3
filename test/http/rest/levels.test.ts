import { describe, expect, onTestFinished, test } from "vitest";
import { levelFromBody } from "../../../src/http/rest/loggers.ts";
import type { LoggerAdapter } from "../../../src/loggers/adapter.ts";
import type { Level } from "../../../src/loggers/level.ts";
import { nativeHandle } from "../../support/native-handle.ts";
import { problemIn, serveRest } from "../../support/rest-server.ts";
import { JSON_TYPE, SV2, SV3, V3 } from "./overruled.ts";

const A = "/actuator/loggers/a";
const LISTED = `${V3}, ${SV3}, ${SV2}, ${JSON_TYPE}`;

describe("a body that sets", () => {
  test.each<readonly [body: unknown, level: Level]>([
    ...(["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const).flatMap((level) => [
      [{ configuredLevel: level }, level] as const,
      [{ configuredLevel: level.toLowerCase() }, level] as const,
    ]),
    [{ configuredLevel: " Debug " }, "DEBUG"],
    [{ configuredLevel: "d-e_b u g" }, "DEBUG"],
    [{ configuredLevel: "\tdebug\n" }, "DEBUG"],
    [{ configuredLevel: false }, "OFF"],
    [{ configuredLevel: "false" }, "OFF"],
    [{ configuredLevel: "False" }, "OFF"],
    [{ x: 1, configuredLevel: "warn", y: { z: [] } }, "WARN"],
    [{ name: "b", configuredLevel: "warn" }, "WARN"],
    ['{"configuredLevel":"error","configuredLevel":"warn"}', "WARN"],
    ['\ufeff{"configuredLevel":"warn"}', "WARN"],
    [' \r\n\t{"configuredLevel":"warn"} \n', "WARN"],
    ['{"configuredLevel":"\\u0077arn"}', "WARN"],
    ['{"configuredLevel":"warn","other":"\\ud800"}', "WARN"],
  ])("%j", async (body, level) => {
    const { post, get, loggers } = await serveRest();
    expect(await post(A, body)).toMatchObject({ status: 204, text: "" });
    expect((await get(A)).text).toBe(`{"configuredLevel":"${level}","effectiveLevel":"${level}"}`);
    expect(loggers.get("b")).toBeUndefined();
  });
});

describe("a body that clears", () => {
  test.each([
    [{}],
    ["null"],
    [{ configuredLevel: null }],
    [{ configuredLevel: "" }],
    [{ configuredLevel: "   " }],
    [{ configuredlevel: "warn" }],
    [{ name: "b" }],
    ['{"__proto__":{"configuredLevel":"warn"}}'],
    ['{"configuredLevel":"warn","configuredLevel":null}'],
    [""],
  ])("%j", async (body) => {
    const { post, get, loggers } = await serveRest();
    loggers.setLevel("a", "TRACE");
    expect(await post(A, body)).toMatchObject({ status: 204, text: "" });
    expect((await get(A)).text).toBe('{"effectiveLevel":"INFO"}');
  });

  test("an object that only inherits the property", () => {
    Object.defineProperty(Object.prototype, "configuredLevel", { value: "WARN", configurable: true });
    onTestFinished(() => void Reflect.deleteProperty(Object.prototype, "configuredLevel"));
    expect(levelFromBody({})).toBeUndefined();
  });

  test("no body at all", async () => {
    const { send, get, loggers } = await serveRest();
    loggers.setLevel("a", "TRACE");
    const answer = await send({ method: "POST", path: A, headers: { "Content-Type": JSON_TYPE } });
    expect(answer.status).toBe(204);
    expect((await get(A)).text).toBe('{"effectiveLevel":"INFO"}');
  });
});

describe("a body that is refused, and changes nothing", () => {
  test.each<readonly [body: unknown, status: number]>([
    ...["ALL", "NONE", "null", "verbose", "ＤＥＢＵＧ", "débug", "debugg", "-", "0"].map(
      (configuredLevel) => [{ configuredLevel }, 400] as const,
    ),
    ...[true, 0, 1.5, -1, [], ["DEBUG"], {}, { a: "DEBUG" }].map(
      (configuredLevel) => [{ configuredLevel }, 400] as const,
    ),
    ...['""', '"DEBUG"', "1", "true", "false", "[]", '[{"configuredLevel":"warn"}]'].map(
      (body) => [body, 400] as const,
    ),
    ['{"configuredLevel":"\\ud800"}', 400],
    ['{"configuredLevel":"debug\\ud800"}', 400],
    ["{", 400],
    [" ", 400],
    ["\ufeff", 400],
    ['\ufeff\ufeff{"configuredLevel":"warn"}', 400],
    ['{"configuredLevel":"warn"', 400],
    ['{"configuredLevel":"warn"}x', 400],
    ['{"configuredLevel":"warn"} {}', 400],
    ['{"configuredLevel":"warn",}', 400],
    ["{\"configuredLevel\":'warn'}", 400],
    ['// c\n{"configuredLevel":"warn"}', 400],
    [Buffer.from('{"configuredLevel":"warn","x":"\xff"}', "latin1"), 400],
    [Buffer.from('\ufeff{"configuredLevel":"warn"}', "utf16le"), 400],
    [`${"[".repeat(60_000)}`, 400],
    [`{"configuredLevel":"warn"}${" ".repeat(64 * 1024)}`, 413],
    [`{"configuredLevel":"warn"}${" ".repeat(900 * 1024)}`, 413],
    [`{"configuredLevel":"warn"}${" ".repeat(3 * 1024 * 1024)}`, 413],
  ])("%.60j is %i", async (body, status) => {
    const { post, get, loggers, reported } = await serveRest();
    loggers.setLevel("a", "TRACE");
    const revision = loggers.revision;
    const answer = await post(A, body);
    expect(problemIn(answer)).toMatchObject({ status, path: A });
    expect(answer.headers).not.toHaveProperty("content-disposition");
    expect(loggers.revision).toBe(revision);
    expect((await get(A)).text).toBe('{"configuredLevel":"TRACE","effectiveLevel":"TRACE"}');
    expect(reported).toEqual([]);
  });

  test("over 64 KiB is the limit, exactly, and it can be set", async () => {
    const body = (length: number) => '{"configuredLevel":"warn"}'.padEnd(length);
    const { post } = await serveRest();
    expect((await post(A, body(64 * 1024))).status).toBe(204);
    expect((await post(A, body(64 * 1024 + 1))).status).toBe(413);
    const smaller = await serveRest({ gateway: { maxBodyBytes: 30 } });
    expect((await smaller.post(A, body(30))).status).toBe(204);
    expect((await smaller.post(A, body(31))).status).toBe(413);
  });
});

describe("the type of the body", () => {
  test.each([
    JSON_TYPE,
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    "application/json; charset=UTF-8",
    'application/json ; charset="utf-8"',
    V3,
    SV3,
    SV2,
    `${V3};charset=utf-8`,
  ])("%s is read", async (type) => {
    const { post } = await serveRest();
    expect((await post(A, { configuredLevel: "debug" }, { "Content-Type": type })).status).toBe(204);
  });

  test.each([
    undefined,
    "",
    "garbage",
    "text/plain",
    "text/json",
    "application/x+json",
    "application/vnd.spring-boot.actuator.v1+json",
    "application/json;charset=iso-8859-1",
    "application/json, application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/*",
    "*/*",
  ])("%s is 415 with the list of types, also for an empty body", async (type) => {
    const { post, loggers } = await serveRest();
    const headers = type === undefined ? {} : { "Content-Type": type };
    for (const body of [{ configuredLevel: "debug" }, ""]) {
      const answer = await post(A, body, headers);
      expect(problemIn(answer)).toMatchObject({ status: 415, error: "Unsupported Media Type" });
      expect(answer.headers.accept).toBe(LISTED);
    }
    expect(loggers.get("a")).toBeUndefined();
  });

  test("a content coding is 415 and says that none is taken", async () => {
    const { post, loggers } = await serveRest();
    const answer = await post(A, "{}", { "Content-Type": JSON_TYPE, "Content-Encoding": "gzip" });
    expect(answer).toMatchObject({ status: 415, headers: { "accept-encoding": "identity" } });
    expect(loggers.get("a")).toBeUndefined();
  });
});

describe("names", () => {
  test.each([
    ["a%20b", "a b"],
    ["a+b", "a+b"],
    ["a;x=1", "a"],
    ["a;x=1;y", "a"],
    ["a%3Bx", "a;x"],
    ["%61.b", "a.b"],
    ["%E2%82%AC", "€"],
    ["%F0%9F%98%80", "😀"],
    ["a..b", "a..b"],
    [".a", ".a"],
    [".", "."],
    ["..", ".."],
    ["a$b", "a$b"],
    ["a:b", "a:b"],
    ["a%3Ab", "a:b"],
    ["__proto__", "__proto__"],
    ["constructor", "constructor"],
    ["42", "42"],
    ["[Tomcat]", "[Tomcat]"],
    ["%2541", "%41"],
    ["n".repeat(512), "n".repeat(512)],
  ])("%s is the logger %s", async (segment, name) => {
    const { post, get, loggers } = await serveRest();
    const path = `/actuator/loggers/${segment}`;
    expect(await get(path)).toMatchObject({ status: 404, text: "" });
    expect((await post(path, { configuredLevel: "warn" })).status).toBe(204);
    expect((await get(path)).text).toBe('{"configuredLevel":"WARN","effectiveLevel":"WARN"}');
    expect(loggers.get(name)).toMatchObject({ name, configuredLevel: "WARN" });
  });

  test("are case-sensitive", async () => {
    const { post, get } = await serveRest();
    await post("/actuator/loggers/Shop", { configuredLevel: "warn" });
    expect((await get("/actuator/loggers/shop")).status).toBe(404);
  });

  test.each([
    ["percent-encoding", "%"],
    ["percent-encoding", "%4"],
    ["percent-encoding", "%zz"],
    ["percent-encoding", "a%u0041"],
    ["UTF-8", "%ff"],
    ["UTF-8", "%c0%af"],
    ["UTF-8", "%ed%a0%80"],
    ["UTF-8", "%e2%82"],
    ["UTF-8 in a matrix part", "a;x=%ff"],
    ["a control character", "%00"],
    ["a control character", "a%0ab"],
    ["a control character", "a%7f"],
    ["a control character", "a%c2%85"],
    ["a slash", "a%2Fb"],
    ["a slash", "a%2fb"],
    ["a slash in a matrix part", "a;%2f"],
    ["a backslash", "a%5Cb"],
    ["a backslash", "a\\b"],
    ["too many bytes", "n".repeat(513)],
    ["too many bytes", "%E2%82%AC".repeat(171)],
  ])("%s: %.20s is 400 for GET and POST, and changes nothing", async (_, segment) => {
    const { post, get, loggers } = await serveRest();
    const { revision } = loggers;
    const path = `/actuator/loggers/${segment}`;
    expect(problemIn(await get(path))).toMatchObject({ status: 400, path });
    expect(problemIn(await post(path, { configuredLevel: "warn" }))).toMatchObject({ status: 400, path });
    expect(loggers.revision).toBe(revision);
  });

  test.each(["#", "ROOT#f", "a#b/c"])("a fragment (%s) is a plain 400 without a body", async (segment) => {
    const { get, post } = await serveRest();
    const path = `/actuator/loggers/${segment}`;
    for (const answer of [await get(path), await post(path, {}), await get(`/actuator?x=1#y`)]) {
      expect(answer).toMatchObject({ status: 400, text: "" });
      expect(answer.headers).not.toHaveProperty("content-type");
    }
  });

  test("bytes that no URI has are a plain 400 without a body", async () => {
    for (const host of ["node:http", "node:http2"]) {
      const { get } = await serveRest({}, host);
      expect(await get("/actuator/loggers/\xe9")).toMatchObject({ status: 400, text: "" });
    }
  });

  test.each(["root", "Root", "ROOT", "rOOt", "%52oot"])("%s is ROOT, for POST and GET", async (segment) => {
    const { post, get, loggers } = await serveRest();
    expect((await get(`/actuator/loggers/${segment}`)).text).toBe('{"configuredLevel":"INFO","effectiveLevel":"INFO"}');
    await post(`/actuator/loggers/${segment}`, { configuredLevel: "error" });
    expect(loggers.get("ROOT")).toMatchObject({ configuredLevel: "ERROR" });
    expect(loggers.list().loggers).toHaveLength(1);
  });

  test("a property or query parameter never overrides the path", async () => {
    const { post, get, loggers } = await serveRest();
    await post(`${A}?name=b&configuredLevel=TRACE`, { name: "c", configuredLevel: "warn" });
    expect(loggers.list().loggers.map(({ name }) => name)).toEqual(["ROOT", "a"]);
    expect((await get(`${A}?name=ROOT`)).text).toBe('{"configuredLevel":"WARN","effectiveLevel":"WARN"}');
    await post(`${A}?configuredLevel=TRACE`, {});
    expect((await get(A)).text).toBe('{"effectiveLevel":"INFO"}');
  });
});

describe("groups", () => {
  const groups = { web: ["http", "router"], shop: ["shop.cart"], empty: [] };

  test("a group sets and clears every member, and shows the last level set through it", async () => {
    const { post, get } = await serveRest({ loggers: { groups } });
    const text = async (name: string) => (await get(`/actuator/loggers/${name}`)).text;
    expect(await text("web")).toBe('{"members":["http","router"]}');
    await post("/actuator/loggers/web", { configuredLevel: "debug" });
    expect(await text("web")).toBe('{"configuredLevel":"DEBUG","members":["http","router"]}');
    expect(await text("http")).toBe('{"configuredLevel":"DEBUG","effectiveLevel":"DEBUG"}');
    expect(await text("router")).toBe('{"configuredLevel":"DEBUG","effectiveLevel":"DEBUG"}');
    await post("/actuator/loggers/http", { configuredLevel: "error" });
    expect(await text("web")).toBe('{"configuredLevel":"DEBUG","members":["http","router"]}');
    await post("/actuator/loggers/web", {});
    expect(await text("web")).toBe('{"members":["http","router"]}');
    expect(await text("http")).toBe('{"effectiveLevel":"INFO"}');
  });

  test("a group wins over a logger with the same name", async () => {
    const { post, get, loggers } = await serveRest({ loggers: { groups } });
    loggers.setLevel("shop.cart.item", "WARN");
    await post("/actuator/loggers/shop", { configuredLevel: "trace" });
    expect((await get("/actuator/loggers/shop")).text).toBe('{"configuredLevel":"TRACE","members":["shop.cart"]}');
    const shown = JSON.parse((await get("/actuator/loggers")).text).loggers;
    expect(shown.shop).toEqual({ effectiveLevel: "INFO" });
    expect(shown["shop.cart"]).toEqual({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
  });

  test("a group without members is written to as a logger", async () => {
    const { post, get } = await serveRest({ loggers: { groups } });
    expect((await post("/actuator/loggers/empty", { configuredLevel: "trace" })).status).toBe(204);
    const shown = JSON.parse((await get("/actuator/loggers")).text).loggers;
    expect(shown.empty).toEqual({ configuredLevel: "TRACE", effectiveLevel: "TRACE" });
  });
});

test("FATAL on a library without it is stored, and the effective level says what was reached", async () => {
  const { post, get, loggers } = await serveRest();
  const withoutFatal: LoggerAdapter = {
    kind: "test",
    attach(host) {
      const handle = nativeHandle("INFO", (wanted) => (wanted === "FATAL" ? "ERROR" : wanted));
      host.discovered("lib", handle);
      return () => {};
    },
  };
  loggers.attach(withoutFatal);
  await post("/actuator/loggers/lib", { configuredLevel: "FATAL" });
  expect((await get("/actuator/loggers/lib")).text).toBe('{"configuredLevel":"FATAL","effectiveLevel":"ERROR"}');
});

test("clearing ROOT goes back to the level that the application started with", async () => {
  const { post, get } = await serveRest();
  await post("/actuator/loggers/ROOT", { configuredLevel: "trace" });
  expect((await post("/actuator/loggers/ROOT", {})).status).toBe(204);
  expect((await get("/actuator/loggers/ROOT")).text).toBe('{"configuredLevel":"INFO","effectiveLevel":"INFO"}');
});

test("the number of loggers that only exist because someone posted to them is bounded", async () => {
  const { post, loggers } = await serveRest({ loggers: { maxCreated: 2 } });
  expect((await post("/actuator/loggers/a.b", { configuredLevel: "warn" })).status).toBe(204);
  const answer = await post("/actuator/loggers/c", { configuredLevel: "debug" });
  expect(problemIn(answer)).toMatchObject({ status: 507, error: "Insufficient Storage" });
  expect(problemIn(answer).message).toMatch(/no more are created/);
  expect(loggers.get("c")).toBeUndefined();
  expect((await post("/actuator/loggers/a.b", { configuredLevel: "debug" })).status).toBe(204);
  expect((await post("/actuator/loggers/a.b", {})).status).toBe(204);
  expect((await post("/actuator/loggers/c", { configuredLevel: "debug" })).status).toBe(204);
  expect(loggers.get("a.b")).toBeUndefined();
});

test("a change is for ever, and the history tells where it came from", async () => {
  const { post, loggers } = await serveRest();
  await post(A, { configuredLevel: "debug" });
  const [change] = loggers.history({ limit: 1 });
  expect(change).toMatchObject({ name: "a", override: { actor: "127.0.0.1", expireTime: undefined } });
});

test("a change lasts as long as the options of the loggers say, where that is wanted", async () => {
  const { post, loggers } = await serveRest({ loggers: { defaultTtlMs: 60_000 }, gateway: { temporaryLevels: true } });
  await post(A, { configuredLevel: "debug" });
  await post("/actuator/loggers/b", { configuredLevel: "warn" });
  const [warn, debug] = loggers.history({ limit: 2 });
  expect(debug!.override!.expireTime! - debug!.override!.setTime).toBe(60_000);
  expect(warn).toMatchObject({ override: { expireTime: undefined } });
});

describe("If-Match with the entity tag of the overview", () => {
  const OVERVIEW = "/actuator/loggers";
  const json = { "Content-Type": JSON_TYPE };

  test.each([
    ["plain", {}],
    ["compressed", { "Accept-Encoding": "gzip" }],
  ])("is honoured, as it came: %s", async (_, headers) => {
    const { get, post, loggers } = await serveRest();
    for (let index = 0; index < 100; index++) loggers.setLevel(`logger${index}`, "INFO");
    const { etag } = (await get(OVERVIEW, headers)).headers;
    const change = (configuredLevel: string) =>
      post(A, { configuredLevel }, { ...json, "If-Match": `"other", ${etag}` });
    expect((await change("debug")).status).toBe(204);
    const refused = await change("trace");
    expect(refused.status).toBe(412);
    expect(problemIn(refused).message).toContain("have changed");
    expect(loggers.get("a")).toMatchObject({ configuredLevel: "DEBUG" });
  });

  test.each([
    ["*", 204],
    ['"other"', 412],
    ["nonsense", 412],
  ])("%s: %i", async (tag, status) => {
    const { post } = await serveRest();
    expect((await post(A, { configuredLevel: "debug" }, { ...json, "If-Match": tag })).status).toBe(status);
  });
});

test.each(["\u00a0", "\u3000", " \u2003 ", "\ufeff"])(
  "a level of the spaces %j is 400, and clears nothing",
  async (level) => {
    const { post, loggers } = await serveRest();
    loggers.setLevel("a", "WARN");
    expect((await post(A, { configuredLevel: level })).status).toBe(400);
    expect((await post(A, { configuredLevel: " \t\r\n" })).status).toBe(204);
    expect(loggers.get("a")?.configuredLevel).toBeUndefined();
  },
);

test.each([`${A}?x=%zz`, `${A}?%`, "/actuator/loggers?x=%2", "/actuator?%u0041"])("%s is 400", async (path) => {
  const { get, post } = await serveRest();
  expect(problemIn(await get(path)).status).toBe(400);
  if (path.startsWith(A)) expect(problemIn(await post(path, { configuredLevel: "debug" })).status).toBe(400);
});

describe("what a change did not do is in Actuator-Notice", () => {
  test.each([
    ["orders", 'LOGGER_UNKNOWN; nearest="shop.orders"'],
    ["kaffee", "LOGGER_UNKNOWN; nearest*=UTF-8''kaff%C3%A9e"],
    ["quot.d", 'LOGGER_UNKNOWN; nearest="quot\\"d"'],
    ["nothing.like.it", "LOGGER_UNKNOWN"],
    ["web", "GROUP_MEMBER_UNKNOWN"],
    ["shop.orders", undefined],
    ["shop", undefined],
    ["ROOT", undefined],
  ])("%s: %s", async (name, notice) => {
    const { post, loggers } = await serveRest({ loggers: { groups: { web: ["shop.orders", "router"] } } });
    const attach: LoggerAdapter["attach"] = (host) => {
      for (const each of ["shop.orders", "kaff\u00e9e", 'quot"d']) host.discovered(each, nativeHandle());
      return () => {};
    };
    loggers.attach({ kind: "test", attach });
    for (const configuredLevel of ["debug", null]) {
      const { status, headers, text } = await post(`/actuator/loggers/${name}`, { configuredLevel });
      expect({ status, text, notice: headers["actuator-notice"] }).toEqual({ status: 204, text: "", notice });
    }
  });
});
