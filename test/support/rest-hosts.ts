import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import express from "express";
import fastify from "fastify";
import type { Gateway } from "../../src/http/rest/gateway.ts";
import { http1Client, http2Client, type RestClient } from "./rest-client.ts";

/** A server that hands its requests to a gateway, on a free port of 127.0.0.1. */
export interface RestHost {
  readonly port: number;
  readonly client: RestClient;
  close(): void;
}

/** Everything that a gateway can be mounted in. */
export const REST_HOSTS: Readonly<Record<string, (gateway: Gateway) => Promise<RestHost>>> = {
  "node:http": serveHttp1,
  "node:http2": serveHttp2,
  "Express 5": (gateway) => {
    const application = express();
    application.use(gateway);
    return serveHttp1(application);
  },
  "Fastify 5": async (gateway) => {
    const application = fastify();
    application.addHook("onRequest", (request, reply, done) => gateway(request.raw, reply.raw, done));
    await application.ready();
    return serveHttp1(application.routing);
  },
};

/** Serves HTTP/1.1. */
export async function serveHttp1(handler: http.RequestListener): Promise<RestHost> {
  const server = http.createServer((request, response) => handler(request, response));
  const port = await listen(server);
  return { port, client: http1Client(port), close: () => void server.close().closeAllConnections() };
}

/** Serves HTTP/2 with prior knowledge. */
export async function serveHttp2(gateway: Gateway): Promise<RestHost> {
  const server = http2.createServer((request, response) => gateway(request, response));
  const port = await listen(server);
  const { client, close } = http2Client(port);
  return {
    port,
    client,
    close() {
      close();
      server.close();
    },
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
