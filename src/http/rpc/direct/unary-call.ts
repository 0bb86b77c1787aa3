import type { ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { Call } from "./call.ts";
import { COMPRESS_MIN_BYTES, written } from "./frames.ts";
import { fieldsOf, grpcTrailers, metadataOf, webTrailers } from "./trailers.ts";
import type { Fields } from "./wire.ts";

/** A call that is answered with one message. */
export class UnaryCall extends Call {
  protected override invoke(input: object): void {
    this.after(this.of.implementation(input, this) as object | Promise<object>, (output) => this.#succeed(output));
  }

  protected override answerError(error: ConnectError): void {
    if (this.format.isEnveloped) this.#answerEnveloped(undefined, error);
    else {
      const fields = { ...this.#head(), ...metadataOf(error), "content-type": "application/json" };
      this.#answer(codeToHttpStatus(error.code), fields, errorToJsonBytes(error, this.of.jsonOptions));
    }
  }

  #succeed(output: object): void {
    const { format, compression, of } = this;
    const bytes = of.encode(output, format.isBinary);
    const isCompressed = compression !== null && bytes.length >= COMPRESS_MIN_BYTES;
    this.after(isCompressed ? compression.compress(bytes) : bytes, (bytes) => this.#answerMessage(bytes, isCompressed));
  }

  #answerMessage(bytes: Uint8Array, isCompressed: boolean): void {
    this.context.end("OK");
    this.over();
    if (this.wire.isGone) return;
    this.write(() => this.#answerOutput(bytes, isCompressed));
  }

  #answerOutput(bytes: Uint8Array, isCompressed: boolean): void {
    if (this.format.isEnveloped) {
      this.#answerEnveloped(encodeEnvelope(isCompressed ? compressedFlag : 0, bytes), undefined);
      return;
    }
    const fields = this.#head();
    if (isCompressed) fields[this.format.encodingHeader] = this.compression!.name;
    this.#answer(200, fields, bytes);
  }

  #answerEnveloped(message: Uint8Array | undefined, error: ConnectError | undefined): void {
    const { format, wire, ownTrailer } = this;
    if (format.protocol === "grpc") {
      wire.begin(200, this.head());
      wire.end(message, grpcTrailers(ownTrailer, error), (failure) => this.cut(failure));
      return;
    }
    const end = webTrailers(ownTrailer, error);
    this.#answer(200, this.head(), written(message === undefined ? end : Buffer.concat([message, end]), format));
  }

  /** The headers of an answer of Connect, where trailers stand too. */
  #head(): Fields {
    const fields = this.head();
    return this.ownTrailer === undefined ? fields : { ...fields, ...fieldsOf(this.ownTrailer, "trailer-") };
  }

  #answer(status: number, fields: Fields, body: Uint8Array): void {
    fields["content-length"] = String(body.length);
    this.wire.begin(status, fields);
    this.wire.end(body);
  }
}
