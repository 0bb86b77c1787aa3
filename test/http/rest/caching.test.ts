import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { type RestServer, serveRest } from "../../support/rest-server.ts";
import { KNOWN_ANSWERS } from "./answers.ts";

/** A server whose overview and graph are over 1 KiB. */
async function serveLarge(host?: string): Promise<RestServer> {
  const server = await serveRest({}, host);
  for (let index = 0; index < 30; index++) {
    server.loggers.setLevel(`shop.component${index}`, "WARN");
    server.graph.channel(`channel${index}`);
  }
  return server;
}

const TAGGED = ["/actuator/loggers", "/actuator/integrationgraph"];

test.each(KNOWN_ANSWERS)(
  "$request.method $request.path is $status, its ETag $etag",
  async ({ request, status, etag }) => {
    const { send, store } = await serveRest({ endpoints: { metrics: new Metrics({ operations: [] }) } });
    store.put({ id: "s1", username: "alice" });
    const answer = await send(request);
    expect({ status: answer.status, etag: "etag" in answer.headers ? "present" : "absent" }).toEqual({ status, etag });
  },
);

describe.each(TAGGED)("the entity tag of %s", (path) => {
  test("spares the transfer of what is known, for GET and HEAD", async () => {
    const { get, send } = await serveLarge();
    const { etag } = (await get(path)).headers;
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} ,`, "*", " * "]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await send({ method, path, headers: { "If-None-Match": known! } });
        expect(answer).toMatchObject({ status: 304, text: "", headers: { etag, "cache-control": "no-cache" } });
        expect(answer.headers).not.toHaveProperty("content-type");
        expect(answer.headers.vary).toBe("Accept, Accept-Encoding");
      }
    }
  });

  test.each(['"other"', 'W/"other"', "", "garbage", '"'])("does not match %s", async (known) => {
    const { get } = await serveLarge();
    expect((await get(path, { "If-None-Match": known })).status).toBe(200);
  });

  test("is the same as long as the body is, and another for another body or coding", async () => {
    const { get, loggers, graph } = await serveLarge();
    const tag = async (headers = {}) => (await get(path, headers)).headers.etag;
    const first = await tag();
    const compressed = await tag({ "Accept-Encoding": "gzip" });
    expect(await tag()).toBe(first);
    expect(compressed).not.toBe(first);
    expect((await get(path, { "Accept-Encoding": "gzip", "If-None-Match": first! })).status).toBe(200);
    expect((await get(path, { "Accept-Encoding": "gzip", "If-None-Match": compressed! })).status).toBe(304);
    loggers.setLevel("shop", "DEBUG");
    graph.channel("another");
    expect(await tag()).not.toBe(first);
    expect((await get(path, { "If-None-Match": first! })).status).toBe(200);
  });

  test("comes after the checks", async () => {
    const { get } = await serveLarge();
    expect((await get(path, { "If-None-Match": "*", Accept: "text/plain" })).status).toBe(406);
  });
});

test("the tag of the graph changes with its numbers", async () => {
  const { get, graph } = await serveRest();
  const send = graph.channel("orders").sender(() => undefined);
  const before = (await get("/actuator/integrationgraph")).headers.etag!;
  send();
  const after = await get("/actuator/integrationgraph", { "If-None-Match": before });
  expect(after.status).toBe(200);
  expect(after.headers.etag).not.toBe(before);
});

test("nothing else is tagged: a level is always answered", async () => {
  const { get } = await serveRest();
  expect((await get("/actuator/loggers/ROOT", { "If-None-Match": "*" })).status).toBe(200);
});

describe("gzip", () => {
  test.each<readonly [acceptEncoding: string | undefined, coding: string | undefined]>([
    [undefined, undefined],
    ["", undefined],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, deflate, br, zstd", "gzip"],
    ["br", undefined],
    ["br;q=1, gzip;q=0.1", "gzip"],
    ["*", "gzip"],
    ["deflate, *;q=0.5", "gzip"],
    ["*;q=0", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0.0, *", undefined],
    ["gzip ; q=0.5", "gzip"],
    ["identity", undefined],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0, gzip", "gzip"],
    ["gzip;q=x", undefined],
    ["gzip;q=2", undefined],
    ["gzip;", undefined],
    [",gzip,", "gzip"],
  ])("Accept-Encoding: %s is answered with %s", async (acceptEncoding, coding) => {
    const { get } = await serveLarge();
    for (const path of TAGGED) {
      const plain = await get(path);
      const answer = await get(path, acceptEncoding === undefined ? {} : { "Accept-Encoding": acceptEncoding });
      expect(answer.headers["content-encoding"]).toBe(coding);
      expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
      expect(answer.headers.vary).toBe("Accept, Accept-Encoding");
      expect((coding === undefined ? answer.bytes : gunzipSync(answer.bytes)).toString()).toBe(plain.text);
    }
  });

  test("is for bodies over 1 KiB, and Vary says so", async () => {
    const { get, store } = await serveRest();
    const headers = { "Accept-Encoding": "gzip" };
    store.put({ id: "s", attributeNames: ["x"] });
    const frame = (await get("/actuator/sessions/s")).bytes.length - 1;
    for (const [length, coding, vary] of [
      [1024, undefined, "Accept"],
      [1025, "gzip", "Accept, Accept-Encoding"],
    ] as const) {
      store.put({ id: "s", attributeNames: ["x".repeat(length - frame)] });
      const answer = await get("/actuator/sessions/s", headers);
      expect({ coding: answer.headers["content-encoding"], vary: answer.headers.vary }).toEqual({ coding, vary });
    }
  });

  test("holds for errors and HEAD, too", async () => {
    const { get, send } = await serveLarge();
    const headers = { "Accept-Encoding": "gzip" };
    const error = await get(`/actuator/${"x".repeat(1200)}`, headers);
    expect(error).toMatchObject({ status: 404, headers: { "content-encoding": "gzip" } });
    expect(JSON.parse(gunzipSync(error.bytes).toString()).status).toBe(404);
    const { "content-length": length, etag } = (await get("/actuator/loggers", headers)).headers;
    const head = await send({ method: "HEAD", path: "/actuator/loggers", headers });
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-length": length, etag } });
  });

  test("is up to date after a change, and the same for callers at the same time", async () => {
    const { get, loggers } = await serveLarge();
    const headers = { "Accept-Encoding": "gzip" };
    for (const level of ["DEBUG", "ERROR"] as const) {
      loggers.setLevel("shop", level);
      const answers = await Promise.all(Array.from({ length: 5 }, () => get("/actuator/loggers", headers)));
      for (const { bytes } of answers) {
        expect(JSON.parse(gunzipSync(bytes).toString()).loggers.shop.configuredLevel).toBe(level);
      }
    }
  });
});
