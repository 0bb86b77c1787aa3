import type { IncomingMessage } from "node:http";
import { nodeHttp, nodeHttps } from "../../common/node-http.ts";

/** One request to a Spring Boot Admin server. */
export interface AdminRequest {
  readonly method: "POST" | "DELETE";
  readonly url: URL;
  /** JSON. */
  readonly body?: string | undefined;
  /** The value of the header. */
  readonly authorization?: string | undefined;
  /** PEM, in place of Node's authorities. */
  readonly ca?: string | Buffer | undefined;
  readonly timeoutMs: number;
  /** Ends the request early. */
  readonly signal: AbortSignal;
  /** Whether the process may end while it is under way. */
  readonly background: boolean;
}

/** What the server answered. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: string;
}

/** An answer to a registration has some thirty bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends a request on a connection of its own. One every few seconds gains nothing from a connection that stays; without
 * one there is none that a server has closed in between, and a name leads to a new address at once. Redirects are answers
 * like any other: they are not followed, as the request holds credentials.
 *
 * Rejects if there is no complete answer in time.
 */
export function send(request: AdminRequest): Promise<AdminAnswer> {
  const { method, url, body, authorization, ca, timeoutMs, signal, background } = request;
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> = { Accept: "application/json", "User-Agent": "connect-actuator" };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      headers["Content-Length"] = Buffer.byteLength(body);
    }
    if (authorization !== undefined) headers.Authorization = authorization;
    const options = { method, headers, agent: false as const, signal, maxHeaderSize: 16 * 1024 };
    const answered = (response: IncomingMessage) => {
      readText(response).then((text) => resolve({ status: response.statusCode!, body: text }), reject);
    };
    const sent =
      url.protocol === "https:"
        ? nodeHttps().request(url, { ...options, ...(ca !== undefined && { ca }) }, answered)
        : nodeHttp().request(url, options, answered);
    // Over all of it: a timeout of Node's sockets begins anew with every byte.
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    if (background) {
      timer.unref();
      sent.on("socket", (socket) => socket.unref());
    }
    sent.on("error", reject);
    sent.on("close", () => {
      clearTimeout(timer);
      // If nothing above has settled it.
      reject(new Error("the connection ended before the answer"));
    });
    sent.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
