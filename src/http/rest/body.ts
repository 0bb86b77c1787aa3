import { isUtf8 } from "node:buffer";
import { JSON_TYPE, MEDIA_TYPES, parseMediaRanges } from "./negotiation.ts";
import type { BodyTypes, Request, RequestBody } from "./operation.ts";
import { Refusal } from "./problem.ts";

/** The types of a change of level: those of answers. */
export const ACTUATOR_BODY: BodyTypes = bodyTypes(MEDIA_TYPES.join(", "), (essence) =>
  (MEDIA_TYPES as readonly string[]).includes(essence),
);

/** Any JSON type. */
export const JSON_BODY: BodyTypes = bodyTypes(
  `${JSON_TYPE}, application/*+json`,
  (essence) => essence === JSON_TYPE || /^application\/[^*]+\+json$/.test(essence),
);

function bodyTypes(listed: string, matches: (essence: string) => boolean): BodyTypes {
  return {
    listed,
    includes(contentType) {
      if (contentType === JSON_TYPE) return true;
      const [range, ...more] = parseMediaRanges(contentType) ?? [];
      if (range === undefined || more.length > 0) return false;
      return matches(`${range.type}/${range.subtype}`) && range.parameters.every(isUtf8IfCharset);
    },
  };
}

function isUtf8IfCharset([name, value]: readonly [string, string]): boolean {
  return name !== "charset" || /^"?utf-?8"?$/i.test(value);
}

/** How long a body may take. Over HTTP/2 nothing else ends a body that never arrives. */
const TIMEOUT_MS = 10_000;

/** Refuses a body of another type or content coding, before any of it is read. */
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
 * Reads the body as one JSON value; undefined if there is none.
 *
 * @throws Refusal 413 above `maxBytes`, 408 if the body does not arrive in time, 415 if an optional body has another type, 400
 *   for anything but one JSON text in UTF-8
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
    }, TIMEOUT_MS).unref();
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      // The rest is read and discarded: if the connection closed now, a client that is still writing would not see the answer.
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      outcome();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else settle(() => resolve(undefined));
    };
    // No client is left to read the answer; in the call log, 499 means that it went away.
    const onGone = () => settle(() => reject(new Refusal(499)));
    // Over HTTP/2 a stream that was reset without an error ends like a complete body.
    const onEnd = () => (request.aborted ? onGone() : settle(() => resolve(Buffer.concat(chunks, size))));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** The body if a middleware of the application, such as a body parser of Express, has read it already. */
function bytesReadBefore({ body, headers, httpVersionMajor }: Request & { body?: unknown }): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (body !== undefined) return Buffer.from(JSON.stringify(body));
  const unframed = httpVersionMajor === 1 && headers["transfer-encoding"] === undefined;
  if (Number(headers["content-length"] ?? (unframed ? 0 : undefined)) === 0) return Buffer.alloc(0);
  throw new Error("A middleware read the body of the request and did not keep it in request.body.");
}

function unsupported(listed: string): Refusal {
  return new Refusal(415, `The body must be one of the types ${listed}, in UTF-8.`, { Accept: listed });
}

/** Closes a connection of HTTP/1.1 on which nothing more arrives; HTTP/2 ends only the stream, and forbids the header. */
function closing(request: Request): Record<string, string> | undefined {
  return request.httpVersionMajor === 1 ? { Connection: "close" } : undefined;
}
