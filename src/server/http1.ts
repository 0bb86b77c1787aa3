import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions as ServerTlsOptions } from "node:tls";
import { nodeHttp, nodeHttps } from "../common/node-http.ts";
import type { RequestHandler } from "./handler.ts";
import { continueWhenRead } from "./handler.ts";
import type { Limits } from "./limits.ts";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * The HTTP/1.1 half of a port, which owns the port, so that Node's own timeouts stay alive (they start with 'listening').
 * While `draining` answers true, every answer announces that its connection closes.
 *
 * @param tls how TLS is spoken; without it the port is cleartext
 */
export function http1Server(
  handler: RequestHandler,
  limits: Limits,
  draining: () => boolean,
  tls?: ServerTlsOptions,
): Server | SecureServer {
  class Http1Response extends nodeHttp().ServerResponse {
    constructor(req: IncomingMessage) {
      super(req);
      this.on("timeout", destroyStalled);
    }

    // Node calls this for implicit headers too: the last moment at which a connection can be said to close.
    override writeHead(status: number, message?: string | Headers, headers?: Headers): this {
      if (draining()) this.shouldKeepAlive = false;
      return super.writeHead(status, message as string, headers);
    }
  }

  const { headersTimeoutMs, requestTimeoutMs } = limits;
  const options = {
    ServerResponse: Http1Response,
    // Node refuses a limit on the headers above that on the whole request.
    headersTimeout: requestTimeoutMs > 0 ? Math.min(headersTimeoutMs, requestTimeoutMs) : headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.sweepIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    keepAlive: true,
    keepAliveInitialDelay: limits.pingIntervalMs,
  };
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (namesTwoHosts(req)) res.writeHead(400, { Connection: "close" }).end();
    else handler(req, res);
  };
  const server =
    tls === undefined
      ? nodeHttp().createServer(options, answer)
      : nodeHttps().createServer({ ...options, ...tls }, answer);
  server.on("checkContinue", (req, res) => {
    continueWhenRead(req, res);
    answer(req, res);
  });
  server.timeout = limits.stalledWriteTimeoutMs;
  server.maxRequestsPerSocket = limits.maxRequestsPerConnection;
  return server;
}

/** Node.js takes the first; a proxy in front may have used the other (RFC 9112 section 3.2). */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

/** On a socket without progress for the whole timeout. Nothing to write means that the answer waits for news. */
function destroyStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
