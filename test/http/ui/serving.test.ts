import { once } from "node:events";
import { createServer, get } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, type AuditRecord, createActuator } from "../../../src/index.ts";

const PAGE = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

async function listening(options: ActuatorOptions = {}): Promise<string> {
  const actuator = createActuator({ audit: false, ...options });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  return (await actuator.listen({ port: 0 })).url;
}

/** An answer as it comes: `fetch` would decode it and follow redirects. */
function raw(url: string, headers: Record<string, string> = {}, method = "GET") {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    // The path as it is, which URL would normalise.
    const path = url.slice(url.indexOf("/", "http://".length));
    get({ hostname, port, path, headers, method }, async (res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of res) chunks.push(chunk);
      resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) });
    }).on("error", reject);
  });
}

test("the page is served below the base path, with a strict policy", async () => {
  const url = await listening();
  const { status, headers, body } = await raw(`${url}/actuator/ui/`);
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(headers["cache-control"]).toBe("no-cache");
  expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["referrer-policy"]).toBe("no-referrer");
  const html = body.toString();
  expect(html).toContain('<div id="app">');
  expect(html, "no inline script, no inline style, and relative addresses only").not.toMatch(
    /<script(?![^>]* src="\.\/assets\/)|<style|style=|(?:src|href)="(?!\.\/assets\/|#)/,
  );
});

test("its files have hashed names, are kept for ever, and come compressed as the browser likes", async () => {
  const url = await listening();
  const html = (await raw(`${url}/actuator/ui/`)).body.toString();
  const [, script] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html)!;
  const path = `${url}/actuator/ui/${script}`;
  const plain = await raw(path);
  expect(plain.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "Accept-Encoding",
  });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  const gzip = await raw(path, { "accept-encoding": "gzip, deflate" });
  expect(gzip.headers["content-encoding"]).toBe("gzip");
  const br = await raw(path, { "accept-encoding": "gzip, deflate, br" });
  expect(br.headers["content-encoding"]).toBe("br");
  const refused = await raw(path, { "accept-encoding": "br;q=0, gzip;q=0" });
  expect(refused.headers["content-encoding"]).toBeUndefined();
  for (const bytes of [gunzipSync(gzip.body), brotliDecompressSync(br.body), refused.body]) {
    expect(bytes.equals(plain.body)).toBe(true);
  }
  const head = await raw(path, { "accept-encoding": "br" }, "HEAD");
  expect(head.headers["content-length"]).toBe(String(br.body.length));
  expect(head.body).toHaveLength(0);
});

test("a page that has not changed is not sent again", async () => {
  const url = await listening();
  const { headers } = await raw(`${url}/actuator/ui/`);
  const again = await raw(`${url}/actuator/ui/`, { "if-none-match": String(headers.etag) });
  expect(again.status).toBe(304);
  expect(again.body).toHaveLength(0);
  // A proxy that compresses makes the tag weak.
  const weak = await raw(`${url}/actuator/ui/`, { "if-none-match": `"other", W/${headers.etag}` });
  expect(weak.status).toBe(304);
});

test("the path without a slash leads to the one with it, also below the prefix of a proxy", async () => {
  const url = await listening({ basePath: "/manage/actuator" });
  const { status, headers } = await raw(`${url}/manage/actuator/ui`);
  expect([status, headers.location]).toEqual([302, "ui/"]);
});

test("/ of a port of its own leads browsers to the page, and no other client", async () => {
  const url = await listening();
  const browser = await raw(`${url}/`, PAGE);
  expect([browser.status, browser.headers.location]).toEqual([302, "actuator/ui/"]);
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5", undefined]) {
    const other = await raw(`${url}/`, accept === undefined ? {} : { accept });
    expect(other.status).toBe(404);
    expect(other.headers["content-type"]).toMatch(/json/);
  }
});

test.each([
  "assets/none.js",
  "../loggers",
  "..%2f..%2fpackage.json",
  "assets/../../../package.json",
  "%2e%2e/",
  "index.html.gz",
  ".sources",
  "constructor",
  "__proto__",
])("there is no file %s", async (path) => {
  const { status, body } = await raw(`${await listening()}/actuator/ui/${path}`);
  expect(status).toBe(404);
  expect(body.toString()).not.toMatch(/devDependencies|effectiveLevel/);
});

test("only reading is allowed", async () => {
  const { status, headers } = await raw(`${await listening()}/actuator/ui/`, {}, "POST");
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});

test("ui: false serves none of it", async () => {
  const url = await listening({ ui: false });
  for (const path of ["/", "/actuator/ui", "/actuator/ui/"]) expect((await raw(url + path, PAGE)).status).toBe(404);
});

test("the page needs no credentials where the data does", async () => {
  const url = await listening({
    loggers: {},
    access: { authorize: () => undefined },
  });
  expect((await raw(`${url}/actuator/loggers`)).status).toBe(401);
  expect((await raw(`${url}/actuator/ui/`)).status).toBe(200);
});

test("a host that is not this machine's is refused", async () => {
  const { status, body } = await raw(`${await listening()}/actuator/ui/`, { host: "attacker.example" });
  expect(status).toBe(403);
  expect(body.toString()).toContain("allowedHosts");
});

test("a mounted handler without access control shows no page and says how to allow it", async () => {
  const errors: unknown[] = [];
  const { handler, close } = createActuator({ audit: false, onError: (error) => errors.push(error) });
  const app = express().use("/sub", handler);
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  onTestFinished(() => close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, headers, body } = await raw(`${url}/sub/actuator/ui/`, PAGE);
  expect(status).toBe(403);
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  expect(body.toString()).toContain("<h1>No access control is configured</h1>");
  expect(body.toString()).toContain('<pre>createActuator({ access: { tokens: "tokens.json" }');
  expect((await raw(`${url}/`, PAGE)).status, "the application's own").toBe(404);
});

test("a mounted handler serves the page below the path of its mount", async () => {
  const { handler, close } = createActuator({ audit: false, access: "loopback" });
  const server = createServer(express().use("/sub", handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  onTestFinished(() => close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await raw(`${url}/sub/actuator/ui/`)).status).toBe(200);
  expect((await raw(`${url}/sub/actuator/ui`)).headers.location).toBe("ui/");
});

test("requests for the page are calls of their own route, and no failure of the caller", async () => {
  const records: AuditRecord[] = [];
  const url = await listening({ metrics: true, audit: (record) => void records.push(record) });
  await raw(`${url}/actuator/ui/`);
  await raw(`${url}/actuator/ui/`, { host: "attacker.example" });
  expect(records).toMatchObject([{ operation: "GET /ui", result: "PERMISSION_DENIED", reason: "HOST_NOT_ALLOWED" }]);
  const metrics = (await raw(`${url}/actuator/prometheus`)).body.toString();
  expect(metrics).toMatch(/http_route="\/actuator\/ui"/);
});

test("a mounted handler shows no page after the actuator was closed", async () => {
  const { handler, close } = createActuator({ audit: false, access: "loopback" });
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/actuator/ui/`;
  expect((await raw(url)).status).toBe(200);
  await close();
  expect((await raw(url)).status).toBe(503);
});

test("a mounted handler serves the page in Fastify", async () => {
  const { handler, close } = createActuator({ audit: false, access: "loopback" });
  onTestFinished(() => close());
  const app = fastify();
  app.addHook("onRequest", (request, reply, done) => handler(request.raw, reply.raw, done));
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  expect((await raw(`${url}/actuator/ui/`)).status).toBe(200);
});

test("it is served over HTTP/2, too", async () => {
  const session = connect(await listening());
  onTestFinished(() => session.close());
  const stream = session.request({ ":path": "/actuator/ui/", "accept-encoding": "br" });
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.on("response", resolve));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect([headers[":status"], headers["content-encoding"]]).toEqual([200, "br"]);
  expect(brotliDecompressSync(Buffer.concat(chunks)).toString()).toContain('<div id="app">');
});
