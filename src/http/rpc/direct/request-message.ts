import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import type { Format } from "./format.ts";

/** The message of a request, as it came. */
export interface RequestMessage {
  readonly data: Uint8Array;
  /** Whether its envelope says that it is compressed; true without an envelope, where the headers alone decide. */
  readonly isCompressed: boolean;
}

const HEAD_BYTES = 5;

/** Collects the body of a request that has one message. */
export class RequestBody {
  readonly #format: Format;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isMeasured = false;

  /** @param maxBytes the maximum size of the message */
  constructor(format: Format, maxBytes: number) {
    this.#format = format;
    this.#maxBytes = maxBytes;
  }

  /** @throws ConnectError RESOURCE_EXHAUSTED as soon as it is certain that the message is too large */
  add(chunk: Buffer): void {
    const { isEnveloped, isText } = this.#format;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (!isEnveloped) {
      this.checkSize(this.#bytes);
      return;
    }
    // Base64 takes four thirds, and an envelope without a message may follow.
    if (this.#bytes > 2 * (this.#maxBytes + HEAD_BYTES)) throw tooLarge(this.#maxBytes);
    if (isText || this.#isMeasured || this.#bytes < HEAD_BYTES) return;
    this.#isMeasured = true;
    this.checkSize(this.#take().readUInt32BE(1));
  }

  /** @throws ConnectError RESOURCE_EXHAUSTED if a message of this size is too large */
  checkSize(bytes: number): void {
    if (bytes > this.#maxBytes) throw tooLarge(this.#maxBytes, bytes);
  }

  /**
   * Returns the message of the whole body.
   *
   * @throws ConnectError INVALID_ARGUMENT for an incomplete envelope, UNIMPLEMENTED unless there is exactly one message
   */
  end(): RequestMessage {
    const body = this.#take();
    if (!this.#format.isEnveloped) return { data: body, isCompressed: true };
    return this.#only(this.#format.isText ? decoded(body) : body);
  }

  #take(): Buffer {
    const [first = EMPTY, ...more] = this.#chunks;
    if (more.length === 0) return first;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }

  #only(bytes: Buffer): RequestMessage {
    let message: RequestMessage | undefined;
    for (let at = 0; at < bytes.length; ) {
      if (bytes.length - at < HEAD_BYTES) throw incomplete();
      const flags = bytes[at]!;
      const length = bytes.readUInt32BE(at + 1);
      this.checkSize(length);
      const data = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
      if (data.length < length) throw incomplete();
      at += HEAD_BYTES + length;
      if ((flags & this.#format.endFlag) !== 0) continue;
      if (message !== undefined) throw unimplemented("received extra input message");
      message = { data, isCompressed: (flags & compressedFlag) !== 0 };
    }
    if (message === undefined) throw unimplemented("missing input message");
    return message;
  }
}

const EMPTY = Buffer.alloc(0);

/** Decodes base64 that was written in one or more padded pieces. */
function decoded(text: Buffer): Buffer {
  const pieces = text.toString("latin1").match(/[^=]+/g) ?? [];
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64")));
}

/**
 * Returns the message of a GET of Connect.
 *
 * @throws ConnectError INVALID_ARGUMENT for invalid base64
 * @see https://connectrpc.com/docs/protocol#unary-get-request
 */
export function messageOfQuery(query: URLSearchParams): RequestMessage {
  const text = query.get("message") ?? "";
  if (query.get("base64") !== "1") return { data: Buffer.from(text), isCompressed: true };
  try {
    return { data: base64Decode(text), isCompressed: true };
  } catch (error) {
    const message = "The parameter message is not valid base64.";
    throw new ConnectError(message, Code.InvalidArgument, undefined, undefined, error);
  }
}

function tooLarge(maxBytes: number, bytes?: number): ConnectError {
  const size = bytes === undefined ? "" : ` ${bytes}`;
  return new ConnectError(`message size${size} is larger than the limit of ${maxBytes} bytes`, Code.ResourceExhausted);
}

function incomplete(): ConnectError {
  return new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
}

function unimplemented(what: string): ConnectError {
  return new ConnectError(`protocol error: ${what}`, Code.Unimplemented);
}
