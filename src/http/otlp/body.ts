import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { GateRequest } from "../gate/request.ts";
import { OtlpProblem } from "./problem.ts";

/** Milliseconds that a body may take. */
const DEADLINE = 10_000;

/** Reads a body and decompresses it; neither form may be longer than `maxBytes`. */
export async function readBody(request: GateRequest, maxBytes: number): Promise<Uint8Array> {
  const coding = request.headers["content-encoding"]?.toString().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "gzip") {
    throw new OtlpProblem(415, "The body may be compressed by gzip only.", { "Accept-Encoding": "gzip" });
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const body = request.readableEnded ? bodyReadBefore(request) : await readBytes(request, maxBytes);
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return coding === "gzip" && body.length > 0 ? inflated(body, maxBytes) : body;
}

const inflate = promisify(gunzip);

async function inflated(body: Uint8Array, maxOutputLength: number): Promise<Uint8Array> {
  try {
    return await inflate(body, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxOutputLength);
    throw new OtlpProblem(400, "The body is not valid gzip.");
  }
}

function readBytes(request: GateRequest, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => settle(new OtlpProblem(408, "The body did not arrive in time.")), DEADLINE);
    const settle = (problem: OtlpProblem | undefined) => {
      clearTimeout(timer);
      // The rest flows on and is forgotten: a sender who is busy writing would not see an answer otherwise.
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      if (problem === undefined) resolve(Buffer.concat(chunks, size));
      else reject(problem);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else settle(tooLarge(maxBytes));
    };
    // Nobody is left to read it: 499 records that the client went away.
    const onGone = () => settle(new OtlpProblem(499, "The body is not complete."));
    // Over HTTP/2 a stream that is reset without an error ends like a complete body.
    const onEnd = () => (request.aborted ? onGone() : settle(undefined));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** The body where a middleware of the application has read it already. */
function bodyReadBefore({ body }: GateRequest & { body?: unknown }): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return Buffer.from(body);
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
}

function tooLarge(maxBytes: number): OtlpProblem {
  return new OtlpProblem(413, `The body is longer than ${maxBytes} bytes (option otlp.maxRequestBytes).`);
}
