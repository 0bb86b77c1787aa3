import { isUtf8 } from "node:buffer";
import type { Request, RequestBody } from "./operation.ts";
import { Refusal } from "./problem.ts";

/** Milliseconds that a body may take: nothing else ends a body that never comes over HTTP/2. */
const DEADLINE = 10_000;

/** Refuses a body of another type or content coding, before anything of it is read. */
export function checkBodyType(request: Request, { types, typeRequired }: RequestBody): void {
  const { "content-type": contentType = "", "content-encoding": coding = "identity" } = request.headers;
  if (typeRequired && !types.includes(contentType)) throw unsupported(types.listed);
  if (coding.toLowerCase() !== "identity") {
    throw new Refusal(415, "The body must have no content coding.", {
      Accept: types.listed,
      "Accept-Encoding": "identity",
    });
  }
}

/**
 * Reads the body as one JSON value; undefined where there is none.
 *
 * @throws Refusal 413 over `maxBytes`, 408 where the body does not come, 415 where an optional body has another type, 400
 *   for anything but one JSON text in UTF-8.
 */
export async function readJson(request: Request, { types }: RequestBody, maxBytes: number): Promise<unknown> {
  const readable = types.includes(request.headers["content-type"] ?? "");
  const limit = readable ? maxBytes : 0;
  const bytes = request.readableEnded ? bytesReadBefore(request) : await readBytes(request, limit);
  if (bytes === undefined || bytes.length > limit) {
    throw readable ? new Refusal(413, `The body is longer than ${maxBytes} bytes.`) : unsupported(types.listed);
  }
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

function parseJson(bytes: Buffer): unknown {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError();
    return JSON.parse(bytes.toString("utf8", startsWithByteOrderMark(bytes) ? 3 : 0));
  } catch {
    throw new Refusal(400, "The body must be one JSON value in UTF-8.");
  }
}

function startsWithByteOrderMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Resolves to undefined as soon as there are more bytes than `limit`. */
function readBytes(request: Request, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      settle(() => reject(new Refusal(408, "The body did not arrive in time.", closing(request))));
    }, DEADLINE);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      // What is left flows on and is forgotten: a caller who is busy writing would not see an answer on a connection that
      // is closed under it.
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else settle(() => resolve(undefined));
    };
    // Nobody is left to read it: 499 records that the client went away.
    const onGone = () => settle(() => reject(new Refusal(499)));
    // Over HTTP/2 a stream that is reset without an error ends like a complete body.
    const onEnd = () => (request.aborted ? onGone() : settle(() => resolve(Buffer.concat(chunks, size))));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** The body where a middleware of the application has read it already, as Express's body parsers do. */
function bytesReadBefore({ body, headers, httpVersionMajor }: Request & { body?: unknown }): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (body !== undefined) return Buffer.from(JSON.stringify(body));
  const unframed = httpVersionMajor === 1 && headers["transfer-encoding"] === undefined;
  if (Number(headers["content-length"] ?? (unframed ? 0 : undefined)) === 0) return Buffer.alloc(0);
  throw new Error("Something read the body of the request before the gateway and left nothing of it in request.body.");
}

function unsupported(listed: string): Refusal {
  return new Refusal(415, `The body must be one of the types ${listed}, in UTF-8.`, { Accept: listed });
}

/** Ends a connection on which nothing comes any more. HTTP/2 only ends the stream, and knows no such header. */
function closing(request: Request): Record<string, string> | undefined {
  return request.httpVersionMajor === 1 ? { Connection: "close" } : undefined;
}
