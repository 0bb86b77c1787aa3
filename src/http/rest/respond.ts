import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { prefersGzip } from "./negotiation.ts";
import type { Answer, Request, Response } from "./operation.ts";
import { matchesEntityTag } from "./representation.ts";

/** Bodies above this size in bytes are worth compressing. */
const COMPRESSED_ABOVE = 1024;

/** The headers of an answer that depend on the request and the path. */
export interface Form {
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Sends an answer: compressed, without its body, or as 304, depending on the request. */
export function respond(request: Request, response: Response, answer: Answer, form: Form): void | Promise<void> {
  const { status, representation, tagged } = answer;
  // CORS may have set it before.
  const vary = response.hasHeader("Vary") ? `${response.getHeader("Vary")}, Accept` : "Accept";
  const headers: OutgoingHttpHeaders = {
    "Cache-Control": form.cacheControl,
    Vary: vary,
    "X-Content-Type-Options": "nosniff",
    ...answer.headers,
  };
  if (representation === undefined) {
    if (status !== 204) headers["Content-Length"] = 0;
    return send(request, response, status, headers);
  }
  const large = representation.body.length > COMPRESSED_ABOVE;
  const compressed = large && prefersGzip(request.headers["accept-encoding"]?.toString());
  if (large) headers.Vary = `${vary}, Accept-Encoding`;
  if (tagged) {
    const tag = representation.entityTag(compressed);
    headers.ETag = tag;
    const known = request.headers["if-none-match"];
    if (known !== undefined && matchesEntityTag(known, tag)) return send(request, response, 304, headers);
  }
  headers["Content-Type"] = answer.contentType ?? form.contentType;
  if (!compressed) return send(request, response, status, headers, representation.content);
  headers["Content-Encoding"] = "gzip";
  const body = representation.gzip();
  if (Buffer.isBuffer(body)) return send(request, response, status, headers, body);
  return body.then((bytes) => send(request, response, status, headers, bytes));
}

function send(
  request: Request,
  response: Response,
  status: number,
  headers: OutgoingHttpHeaders,
  content?: string | Buffer,
): void {
  // The responses of both HTTP versions have these methods, but TypeScript cannot call them on their union.
  const sender = response as ServerResponse;
  if (content !== undefined) headers["Content-Length"] = content.length;
  sender.writeHead(status, headers);
  if (content === undefined || request.method === "HEAD") sender.end();
  else sender.end(content, "latin1");
}
