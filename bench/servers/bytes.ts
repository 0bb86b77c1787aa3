/**
 * `node bench/servers/bytes.ts <node:http|fastify|express> <url>`: a bare server that answers what the address answers. A framework
 * makes the JSON of a small body at each request, as `send(object)` and `json(object)` do; a large body is a ready buffer.
 */
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import express from "express";
import fastify from "fastify";
import { serving } from "../support/serve.ts";

const [, , framework, url] = process.argv as [string, string, string, string];
const [original] = (await once(get(url), "response")) as [IncomingMessage];
const body = await buffer(original);
const path = new URL(url).pathname;
const type = original.headers["content-type"]!;
const isLarge = body.length > 16_384;
const content = isLarge ? body : JSON.parse(body.toString());

if (framework === "fastify") {
  const app = fastify();
  app.get(path, (_, reply) => reply.type(type).send(content));
  await app.listen({ port: 0, host: "127.0.0.1" });
  serving((app.server.address() as AddressInfo).port);
} else if (framework === "express") {
  const app = express();
  app.get(path, (_, response) => {
    response.type(type);
    if (isLarge) response.send(content);
    else response.json(content);
  });
  const server = app.listen(0, "127.0.0.1", () => serving((server.address() as AddressInfo).port));
} else {
  /** What node:http adds by itself. */
  const own = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);
  const headers = Object.fromEntries(Object.entries(original.headers).filter(([name]) => !own.has(name)));
  // Node.js joins a text with the head and writes both at once; a large body stays the ready buffer that it is.
  const written = isLarge ? body : body.toString("latin1");
  const server = createServer((_, response) => {
    response.writeHead(200, headers).end(written, "latin1");
  });
  server.listen(0, "127.0.0.1", () => serving((server.address() as AddressInfo).port));
}
