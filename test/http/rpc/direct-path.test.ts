// @module-tag slow
/** The direct path answers as connect does, but for the wording of messages. */
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { ActuatorError } from "../../../src/common/error.ts";
import { directPath } from "../../../src/http/rpc/direct/switch.ts";
import { Loggers } from "../../../src/loggers/loggers.ts";
import { Sessions } from "../../../src/sessions/sessions.ts";
import {
  acceptHeader,
  bodyOf,
  encodingHeader,
  envelope,
  exchange,
  type Heard,
  type HttpVersion,
  headersOf,
  messageIn,
  outcomeOf,
  overEach,
  type RpcFormat,
  type Sent,
  STREAM_FORMATS,
  UNARY_FORMATS,
} from "../../support/rpc-exchange.ts";
import { libraryOf, serveRpc } from "../../support/rpc-harness.ts";

const LOGGERS = "/actuator.v3.LoggersService";
const GET_LOGGER = `${LOGGERS}/GetLogger`;
const LIST_LOGGERS = `${LOGGERS}/ListLoggers`;
const GET_SESSION = "/actuator.v3.SessionsService/GetSession";
const NOTHING = Buffer.alloc(0);

const named = (format: RpcFormat, name: string) =>
  messageIn(format, { name }, Buffer.from([10, name.length, ...Buffer.from(name)]));
const withId = (format: RpcFormat, id: string) =>
  messageIn(format, { id }, Buffer.from([10, id.length, ...Buffer.from(id)]));
const empty = (format: RpcFormat) => messageIn(format, {}, NOTHING);

/** A request in a format, as far as it differs from a GetLogger of ROOT. */
type Input = (format: RpcFormat) => Partial<Sent> & { readonly more?: Readonly<Record<string, string>> };

const EVERYWHERE: Readonly<Record<string, Input>> = {
  "a logger": () => ({}),
  "no such logger": (format) => ({ body: bodyOf(format, named(format, "nothing")) }),
  "a list": (format) => ({ path: LIST_LOGGERS, body: bodyOf(format, empty(format)) }),
  "a list, compressed": (format) => ({
    path: LIST_LOGGERS,
    body: bodyOf(format, empty(format)),
    more: { [acceptHeader(format)]: "br, gzip" },
  }),
  "an answer that is too small to compress": (format) => ({ more: { [acceptHeader(format)]: "gzip" } }),
  "an answer in a compression that is unknown": (format) => ({ more: { [acceptHeader(format)]: "zip, identity" } }),
  "an error with metadata": (format) => ({ path: GET_SESSION, body: bodyOf(format, withId(format, "metadata")) }),
  "an error with details": (format) => ({ path: GET_SESSION, body: bodyOf(format, withId(format, "details")) }),
  "an error that is large": (format) => ({ path: GET_SESSION, body: bodyOf(format, withId(format, "large")) }),
  "an error that is large, compressed": (format) => ({
    path: GET_SESSION,
    body: bodyOf(format, withId(format, "large")),
    more: { [acceptHeader(format)]: "gzip" },
  }),
  "an unexpected error": (format) => ({ path: GET_SESSION, body: bodyOf(format, withId(format, "unexpected")) }),
  "an unknown compression": (format) => ({ more: { [encodingHeader(format)]: "zip" } }),
  "no compression, by name": (format) => ({ more: { [encodingHeader(format)]: "identity" } }),
  "a deadline that has passed": (format) => ({ more: deadline(format, 0) }),
  "a deadline far away": (format) => ({ more: deadline(format, 99_999_999) }),
  "a deadline that is none": (format) => ({ more: deadline(format, "soon") }),
  "a deadline of work that never ends": (format) => ({
    path: GET_SESSION,
    body: bodyOf(format, withId(format, "never")),
    more: deadline(format, 30),
  }),
  "a method that does not exist": () => ({ path: `${LOGGERS}/Nothing` }),
  "a service that does not exist": () => ({ path: "/actuator.v3.Nothing/Nothing" }),
  "a path with a query": () => ({ path: `${GET_LOGGER}?a=b` }),
  "an upper-case content type": ({ type }) => ({ more: { "content-type": type.toUpperCase() } }),
  "a content type with a parameter": ({ type }) => ({ more: { "content-type": `${type}; charset=utf-8` } }),
  "an unknown content type": ({ type }) => ({ more: { "content-type": `${type}x` } }),
  PUT: () => ({ method: "PUT" }),
  "a malformed message": (format) => ({ body: bodyOf(format, Buffer.from([0x0a, 0x7f, 0x61])) }),
  "a message over the limit": (format) => ({ body: bodyOf(format, Buffer.alloc(70_000, " ")) }),
};

const ENVELOPED: Readonly<Record<string, Input>> = {
  "no message": () => ({ body: NOTHING }),
  "two messages": (format) => ({ body: Buffer.concat([rootOf(format), rootOf(format)]) }),
  "an envelope that is cut": (format) => ({ body: rootOf(format).subarray(0, 8) }),
  "an envelope whose head is cut": (format) => ({ body: rootOf(format).subarray(0, 3) }),
  "a message, and a cut envelope": (format) => ({
    body: Buffer.concat([rootOf(format), rootOf(format).subarray(0, 7)]),
  }),
  "an unknown flag": (format) => ({ body: envelope(named(format, "ROOT"), 4) }),
  "a compressed flag without a compression": (format) => ({ body: envelope(named(format, "ROOT"), 1) }),
  "a compressed flag of no compression": (format) => ({
    body: envelope(named(format, "ROOT"), 1),
    more: { [encodingHeader(format)]: "identity" },
  }),
  "a message that is not compressed, though it may be": (format) => ({ more: { [encodingHeader(format)]: "br" } }),
  "a compressed message": (format) => ({
    body: envelope(gzipSync(named(format, "ROOT")), 1),
    more: { [encodingHeader(format)]: "gzip" },
  }),
  "a compressed message of no bytes": (format) => ({
    body: envelope(NOTHING, 1),
    more: { [encodingHeader(format)]: "gzip" },
  }),
  "an envelope that declares too much": (format) => ({ body: envelope(named(format, "ROOT"), 0, 70_000) }),
};

/** Trailers, which clients of gRPC-Web may send. */
const WEB: Readonly<Record<string, Input>> = {
  "a message, and trailers": (format) => ({ body: Buffer.concat([rootOf(format), TRAILERS]) }),
  "trailers, and a message": (format) => ({ body: Buffer.concat([TRAILERS, rootOf(format)]) }),
  "trailers alone": () => ({ body: TRAILERS }),
};

const CONNECT: Readonly<Record<string, Input>> = {
  "no body": () => ({ body: NOTHING }),
  "a compressed message": (format) => ({
    body: gzipSync(named(format, "ROOT")),
    more: { "content-encoding": "gzip" },
  }),
  "a compressed message of no bytes": () => ({ body: NOTHING, more: { "content-encoding": "gzip" } }),
  "the version of the protocol": () => ({ more: { "connect-protocol-version": "1" } }),
  "another version of the protocol": () => ({ more: { "connect-protocol-version": "2" } }),
  "GET without a message": ({ json }) => get(`connect=v1&encoding=${json ? "json" : "proto"}`),
  GET: (format) => getOf(format, "base64=1&", named(format, "ROOT").toString("base64url")),
  "GET, padded": (format) => getOf(format, "base64=1&", encodeURIComponent(named(format, "ROOT").toString("base64"))),
  "GET without a version": (format) => getOf(format, "base64=1&", named(format, "ROOT").toString("base64url"), ""),
  "GET of another version": (format) =>
    getOf(format, "base64=1&", named(format, "ROOT").toString("base64url"), "connect=v2&"),
  "GET, not in base64": (format) => getOf(format, "", encodeURIComponent(named(format, "ROOT").toString("latin1"))),
  "GET, compressed": (format) =>
    getOf(format, "base64=1&compression=gzip&", gzipSync(named(format, "ROOT")).toString("base64url")),
  "GET in an unknown compression": (format) =>
    getOf(format, "base64=1&compression=zip&", named(format, "ROOT").toString("base64url")),
  "GET in an unknown encoding": () => get("connect=v1&encoding=xml&message=a"),
  "GET without an encoding": () => get("connect=v1&message=a"),
  "GET of a malformed message": (format) => getOf(format, "base64=1&", "CgVhYg"),
  "GET of a message over the limit": (format) =>
    getOf(format, "base64=1&compression=gzip&", gzipSync(Buffer.alloc(70_000, " ")).toString("base64url")),
  "GET of a list, compressed": (format) => ({
    ...getOf(format, "base64=1&", empty(format).toString("base64url")),
    path: `${LIST_LOGGERS}?connect=v1&encoding=${format.json ? "json" : "proto"}&base64=1&message=${empty(format).toString("base64url")}`,
    more: { "accept-encoding": "gzip" },
  }),
  "GET of a method with side effects": () => ({
    ...get(""),
    path: `${LOGGERS}/SetLoggerLevel?connect=v1&encoding=json&message={}`,
  }),
  "GET with a deadline": (format) => ({
    ...getOf(format, "base64=1&", named(format, "ROOT").toString("base64url")),
    more: { "connect-timeout-ms": "0" },
  }),
};

const TRAILERS = envelope(Buffer.from("x-a: 1\r\n"), 0x80);

function rootOf(format: RpcFormat): Buffer {
  return envelope(named(format, "ROOT"));
}

function deadline({ protocol }: RpcFormat, ms: number | string): Record<string, string> {
  return protocol.startsWith("Connect") ? { "connect-timeout-ms": `${ms}` } : { "grpc-timeout": `${ms}m` };
}

function get(query: string): Partial<Sent> {
  return { method: "GET", path: `${GET_LOGGER}?${query}`, body: undefined };
}

function getOf({ json }: RpcFormat, options: string, message: string, version = "connect=v1&"): Partial<Sent> {
  return get(`${version}encoding=${json ? "json" : "proto"}&${options}message=${message}`);
}

/** Sessions that fail as their id says. */
const FAILURES: Readonly<Record<string, () => unknown>> = {
  metadata: () =>
    new ConnectError("It failed, é.", Code.Aborted, [
      ["x-one", "1"],
      ["x-one", "2"],
      ["x-bin", "AAEC"],
      ["x-bin", "AwQ"],
      ["content-type", "text/evil"],
      ["content-length", "3"],
      ["grpc-status", "0"],
      ["trailer-x", "t"],
    ]),
  details: () => new ActuatorError("RESOURCE_EXHAUSTED", "BUSY", "Later.", { retryAfterSeconds: "7" }),
  large: () => new ActuatorError("NOT_FOUND", "LARGE", "x".repeat(3_000)),
  unexpected: () => new TypeError("secret"),
};

async function serveAll() {
  const loggers = new Loggers();
  loggers.attach(libraryOf(Array.from({ length: 100 }, (_, index) => `logger${index}`)));
  const findById = (id: string) =>
    id === "never" ? new Promise<never>(() => {}) : Promise.reject(FAILURES[id]?.() ?? new Error(id));
  const sessions = new Sessions({ kind: "failing", findById, delete: async () => false }, { ids: "raw" });
  return serveRpc({ loggers, sessions });
}

afterEach(() => {
  directPath.enabled = true;
});

/**
 * Headers without those that tell how long the answer is: connect writes answers in pieces, and the direct path in one. It compresses no
 * errors, which are rarely large.
 */
function comparableHeaders(status: number, fields: Readonly<Record<string, string>>) {
  const { date: _, "content-length": __, "transfer-encoding": ___, "content-encoding": encoding, ...others } = fields;
  return status === 200 ? { ...others, encoding } : others;
}

/** What of an answer must be the same over both paths. */
function comparable(format: RpcFormat, heard: Heard) {
  const { status, body } = heard;
  const headers = comparableHeaders(status, heard.headers);
  expect(heard.headers.date).toMatch(/ GMT$/);
  if (status !== 200 && body.length === 0) return { status, headers };
  const { code, metadata, messages, message } = outcomeOf(format, heard);
  const texts = messages.map((each) => each.toString("latin1"));
  return {
    status,
    headers,
    code,
    metadata: comparableHeaders(status, metadata),
    messages: texts,
    hasMessage: message !== "",
  };
}

interface Case {
  readonly name: string;
  readonly format: RpcFormat;
  readonly version: HttpVersion;
  readonly sent: Sent;
}

function casesOf(formats: readonly RpcFormat[], inputsOf: (format: RpcFormat) => Readonly<Record<string, Input>>) {
  return overEach(formats).flatMap(({ format, version, over }) =>
    Object.entries(inputsOf(format)).map(([what, input]): Case => {
      const { more, ...sent } = input(format);
      const root = bodyOf(format, named(format, "ROOT"));
      const headers = { ...headersOf(format), ...more };
      return { name: `${over}: ${what}`, format, version, sent: { path: GET_LOGGER, body: root, ...sent, headers } };
    }),
  );
}

const AT_A_TIME = 100;

/** The answers to all cases over one path, and what reached `onError`. */
async function answersTo(cases: readonly Case[], isDirect: boolean) {
  directPath.enabled = isDirect;
  const { url, errors } = await serveAll();
  const answers: Record<string, unknown> = {};
  for (let at = 0; at < cases.length; at += AT_A_TIME) {
    const batch = cases.slice(at, at + AT_A_TIME).map(async ({ name, format, version, sent }) => {
      const answer = await exchange(url, version, sent).catch((error: unknown) => `${name}: ${error}`);
      answers[name] = typeof answer === "string" ? answer : comparable(format, answer);
    });
    await Promise.all(batch);
  }
  return { answers, errors: errors.map(({ error, context }) => `${context}: ${error}`).sort() };
}

/** The answers that differ, by case. */
async function differences(cases: readonly Case[]) {
  const byConnect = await answersTo(cases, false);
  const direct = await answersTo(cases, true);
  expect(direct.errors).toEqual(byConnect.errors);
  const different = cases.filter(({ name }) => !isDeepStrictEqual(direct.answers[name], byConnect.answers[name]));
  return Object.fromEntries(
    different.map(({ name }) => [name, { byConnect: byConnect.answers[name], direct: direct.answers[name] }]),
  );
}

test("calls with one message on either side", async () => {
  const cases = casesOf(UNARY_FORMATS, ({ protocol }) => ({
    ...EVERYWHERE,
    ...(protocol === "Connect" ? CONNECT : ENVELOPED),
    ...(protocol === "gRPC-Web" && WEB),
  }));
  expect(await differences(cases)).toEqual({});
});

const STREAMS: Readonly<Record<string, Input>> = {
  "a watch until its deadline": () => ({}),
  "a watch until its deadline, compressed": (format) => ({ more: { [acceptHeader(format)]: "br, gzip" } }),
  "a watch of the health": () => ({ path: "/grpc.health.v1.Health/Watch" }),
  "a hold that is refused": () => ({ path: `${LOGGERS}/HoldLoggerLevel` }),
  "a deadline that has passed": (format) => ({ more: deadline(format, 0) }),
  "a deadline that is none": (format) => ({ more: deadline(format, "soon") }),
  "no message": () => ({ body: NOTHING }),
  "two messages": (format) => ({ body: Buffer.concat([envelope(empty(format)), envelope(empty(format))]) }),
  "an envelope that is cut": (format) => ({ body: rootOf(format).subarray(0, 8) }),
  "an envelope that declares too much": () => ({ body: envelope(NOTHING, 0, 70_000) }),
  "a malformed message": () => ({ body: envelope(Buffer.from([0x0a, 0x7f, 0x61])) }),
  "a compressed flag without a compression": (format) => ({ body: envelope(empty(format), 1) }),
  "a compressed message": (format) => ({
    body: envelope(gzipSync(empty(format)), 1),
    more: { [encodingHeader(format)]: "gzip" },
  }),
  "an unknown compression": (format) => ({ more: { [encodingHeader(format)]: "zip" } }),
  "a unary content type": () => ({ more: { "content-type": "application/proto" } }),
  PUT: () => ({ method: "PUT" }),
  GET: () => ({ method: "GET", body: undefined }),
};

/** Streams are watched until a deadline, or until they end before it. */
test("streams", async () => {
  const inputs = Object.entries(STREAMS).map(([what, input]): [string, Input] => [
    what,
    (format) => {
      const watch = { path: `${LOGGERS}/WatchLoggers`, body: envelope(empty(format)) };
      const { more, ...sent } = input(format);
      return { ...watch, ...sent, more: { ...deadline(format, 2_000), ...more } };
    },
  ]);
  expect(await differences(casesOf(STREAM_FORMATS, () => Object.fromEntries(inputs)))).toEqual({});
});
