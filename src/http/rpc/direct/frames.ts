import { type Compression, compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Format } from "./format.ts";

/** Compressing less takes longer than it saves. */
export const COMPRESS_MIN_BYTES = 1024;

type Frame = Uint8Array;

/**
 * The frames of the messages of streams: each message is encoded, compressed and put into its envelope once for each format, however many
 * watchers it goes to. A frame must never be changed, because the flow control of a slow reader may hold it for long.
 */
export class Frames {
  readonly #encode: (message: object, isBinary: boolean) => Uint8Array;
  readonly #known = new Map<string, WeakMap<object, Frame | Promise<Frame>>>();

  constructor(encode: (message: object, isBinary: boolean) => Uint8Array) {
    this.#encode = encode;
  }

  /**
   * Returns the frame of a message; a promise while it is being compressed.
   *
   * @throws ConnectError if the message cannot be encoded
   */
  of(message: object, format: Format, compression: Compression | null): Frame | Promise<Frame> {
    const key = `${format.contentType} ${compression?.name ?? ""}`;
    let frames = this.#known.get(key);
    if (frames === undefined) this.#known.set(key, (frames = new WeakMap()));
    const known = frames.get(message);
    if (known !== undefined) return known;
    const made = frameOf(this.#encode(message, format.isBinary), format, compression);
    frames.set(message, made);
    if (made instanceof Promise) made.then((frame) => frames.set(message, frame)).catch(() => frames.delete(message));
    return made;
  }
}

function frameOf(bytes: Uint8Array, format: Format, compression: Compression | null): Frame | Promise<Frame> {
  if (compression === null || bytes.length < COMPRESS_MIN_BYTES) return envelope(0, bytes, format);
  return compression.compress(bytes).then((compressed) => envelope(compressedFlag, compressed, format));
}

function envelope(flags: number, bytes: Uint8Array, format: Format): Frame {
  return written(encodeEnvelope(flags, bytes), format);
}

/** Envelopes as they are written: in base64, where the format is text. */
export function written(envelopes: Uint8Array, { isText }: Format): Uint8Array {
  return isText ? Buffer.from(Buffer.from(envelopes).toString("base64"), "latin1") : envelopes;
}
