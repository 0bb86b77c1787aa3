import { once } from "node:events";
import http, { type IncomingHttpHeaders, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { testTrust } from "../../support/server-tls.ts";

/** A request as it came. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real server that keeps what it is sent, and answers as a test wants it. */
export interface RecordingServer {
  readonly url: string;
  readonly port: number;
  readonly requests: RecordedRequest[];
  /** How many requests were under way at once, at most. */
  readonly mostAtOnce: number;
  of(method: string): RecordedRequest[];
  close(): Promise<void>;
}

/** Answers one request. */
export type Respond = (request: RecordedRequest, response: ServerResponse) => void;

/** What the original answers: 201 with an id, and 204 for a DELETE (recorded of 4.1.2). */
export const registers: Respond = ({ method }, response) => {
  if (method === "DELETE") return void response.writeHead(204).end();
  const headers = { "Content-Type": "application/json", Location: "http://elsewhere.test/instances/0123456789ab" };
  response.writeHead(201, headers).end('{"id":"0123456789ab"}');
};

/** Starts one on a port of 127.0.0.1, a free one unless it is given; it ends with the test. */
export async function recordingServer(
  respond: Respond = registers,
  { port = 0, secure = false }: { port?: number; secure?: boolean } = {},
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  let now = 0;
  let mostAtOnce = 0;
  const handler: http.RequestListener = async (req, res) => {
    mostAtOnce = Math.max(mostAtOnce, ++now);
    res.once("close", () => now--);
    let body = "";
    for await (const chunk of req.setEncoding("utf8")) body += chunk;
    const request = { method: req.method!, path: req.url!, headers: req.headers, body };
    requests.push(request);
    respond(request, res);
  };
  const server = secure ? https.createServer((await testTrust()).server, handler) : http.createServer(handler);
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  onTestFinished(close);
  await once(server.listen(port, "127.0.0.1"), "listening");
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `${secure ? "https" : "http"}://127.0.0.1:${bound}`,
    port: bound,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    of: (method) => requests.filter((request) => request.method === method),
    close,
  };
}
