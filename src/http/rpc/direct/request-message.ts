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
const EMPTY: Buffer = Buffer.alloc(0);

/** Collects the body of a request that has one message. */
export class RequestBody {
  readonly #format: Format;
  readonly #maxBytes: number;
  /** The only chunk, or a copy of several with room for more: many small ones take a hundred times as much memory as they hold. */
  #buffer = EMPTY;
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
    this.#append(chunk);
    if (!isEnveloped) {
      this.checkSize(this.#bytes);
      return;
    }
    // Base64 takes four thirds, and an envelope without a message may follow.
    if (this.#bytes > 2 * (this.#maxBytes + HEAD_BYTES)) throw tooLarge(this.#maxBytes);
    if (isText || this.#isMeasured || this.#bytes < HEAD_BYTES) return;
    this.#isMeasured = true;
    this.checkSize(this.#buffer.readUInt32BE(1));
  }

  /** @throws ConnectError RESOURCE_EXHAUSTED if a message of this size is too large */
  checkSize(bytes: number): void {
    if (bytes > this.#maxBytes) throw tooLarge(this.#maxBytes, bytes);
  }

  /**
   * Returns the message of the whole body, and lets go of that: what reads a body lives as long as its call.
   *
   * @throws ConnectError INVALID_ARGUMENT for an incomplete envelope, UNIMPLEMENTED unless there is exactly one message
   */
  end(): RequestMessage {
    const body = this.#buffer.subarray(0, this.#bytes);
    this.#buffer = EMPTY;
    if (!this.#format.isEnveloped) return { data: body, isCompressed: true };
    return this.#only(this.#format.isText ? decoded(body) : body);
  }

  #append(chunk: Buffer): void {
    const before = this.#bytes;
    this.#bytes += chunk.length;
    if (before === 0) {
      this.#buffer = chunk;
      return;
    }
    if (this.#bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * this.#bytes);
      this.#buffer.copy(larger, 0, 0, before);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, before);
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

const PADDING = 0x3d;

/** Decodes base64 that was written in one or more padded pieces. */
function decoded(text: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; ) {
    const mark = text.indexOf(PADDING, at);
    const end = mark === -1 ? text.length : mark;
    // Node.js stops decoding at the first padding.
    length += bytes.write(text.toString("latin1", at, end), length, "base64");
    at = end;
    while (text[at] === PADDING) at++;
  }
  return bytes.subarray(0, length);
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
