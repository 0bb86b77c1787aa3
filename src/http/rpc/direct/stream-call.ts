import type { ConnectError } from "@connectrpc/connect";
import { isRecordedAtBegin } from "../../../access/permission.ts";
import { openStream } from "../calls/open-streams.ts";
import { Call } from "./call.ts";
import { written } from "./frames.ts";
import { connectTrailers, grpcTrailers, webTrailers } from "./trailers.ts";
import type { Fields } from "./wire.ts";

/** A call that is answered with a stream of messages. The next one is asked for when the client has taken the last. */
export class StreamCall extends Call {
  #messages: AsyncIterator<object> | undefined;
  #leave: (() => void) | undefined;

  protected override invoke(input: object): void {
    const { context } = this;
    const { gate, streams } = this.of;
    this.#leave = streams.add((reason) => this.abort(reason), openStream(context, gate));
    const output = this.of.implementation(input, this) as AsyncIterable<object>;
    this.#messages = output[Symbol.asyncIterator]();
    this.#next();
  }

  protected override answerError(error: ConnectError): void {
    this.#end(error);
  }

  protected override over(): void {
    super.over();
    this.#leave?.();
    // Not awaited: a generator returns only when its pending wait ends, which may be never.
    this.#messages?.return?.().catch((error: unknown) => this.fail(error));
  }

  #next(): void {
    if (this.isOver) return;
    this.after(this.#messages!.next(), ({ done, value }) => (done ? this.#done() : this.#send(value)));
  }

  #send(message: object): void {
    const { frames } = this.of;
    this.after(frames.of(message, this.format, this.compression), (frame) => this.#write(frame));
  }

  #write(frame: Uint8Array): void {
    const { wire } = this;
    this.#begin();
    if (wire.write(frame)) this.#next();
    else wire.onDrain(() => this.attempt(() => this.#next()));
  }

  #done(): void {
    this.context.end("OK");
    this.over();
    if (!this.wire.isGone) this.write(() => this.#end(undefined));
  }

  #begin(): void {
    const { wire, context } = this;
    if (wire.hasBegun) return;
    wire.begin(200, this.#head());
    if (context.permission !== undefined && isRecordedAtBegin(context.permission)) context.begin();
  }

  #head(): Fields {
    const fields = this.head();
    // nginx passes everything but gRPC on like pages, and would buffer the first kilobytes of a watch.
    if (this.format.protocol !== "grpc") fields["x-accel-buffering"] = "no";
    return fields;
  }

  #end(error: ConnectError | undefined): void {
    const { wire, format, ownTrailer, of } = this;
    if (!wire.hasBegun) wire.begin(200, this.#head());
    if (format.protocol === "grpc") {
      wire.end(undefined, grpcTrailers(ownTrailer, error), (failure) => this.cut(failure));
    } else {
      const isConnect = format.protocol === "connect";
      const end = isConnect ? connectTrailers(ownTrailer, error, of.jsonOptions) : webTrailers(ownTrailer, error);
      wire.end(written(end, format));
    }
  }
}
