import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { asksForGzip } from "./content-coding.ts";
import type { Answer, Request, Response } from "./operation.ts";
import { matchesEntityTag } from "./representation.ts";

/** Bytes above which a body is worth compressing. */
const COMPRESSED_ABOVE = 1024;

/** What an answer is sent as. */
export interface Form {
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Sends an answer: compressed, without its body or as 304, as the request wants it. */
export function respond(request: Request, response: Response, answer: Answer, form: Form): void | Promise<void> {
  const { status, representation, tagged } = answer;
  // Set before where pages of other origins may call.
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
  const compressed = large && asksForGzip(request.headers["accept-encoding"]?.toString());
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
  // Both versions of HTTP answer to these two calls; only their types do not say so together.
  const sender = response as ServerResponse;
  if (content !== undefined) headers["Content-Length"] = content.length;
  sender.writeHead(status, headers);
  if (content === undefined || request.method === "HEAD") sender.end();
  else sender.end(content, "latin1");
}
