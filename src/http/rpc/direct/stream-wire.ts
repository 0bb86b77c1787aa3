import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { HTTP2_CODES } from "../../../server/http2-codes.ts";
import type { GateRequest, GateResponse } from "../../gate/request.ts";
import { readRest, resetSoon } from "../calls/node-request.ts";
import type { Fields, Wire } from "./wire.ts";

/** A stream of HTTP/2 on the actuator's own port, without the objects that Node.js makes of it for compatibility with HTTP/1.1. */
export class StreamWire implements Wire {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly httpVersion = "2.0";
  readonly url: string;
  statusCode = 200;
  /** What the gate has set, for CORS. */
  #fields: Fields | undefined;
  #isComplete = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[], url: string) {
    this.stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.url = url;
    // Node.js makes an error without a listener an uncaught exception. What it means, "close" tells.
    stream.on("error", () => {});
  }

  /** The stand-in for the request of the compatibility interface, as far as the gate and the server look at one. */
  get request(): GateRequest {
    return this as unknown as GateRequest;
  }

  get response(): GateResponse {
    return this as unknown as GateResponse;
  }

  get method(): string {
    return this.headers[":method"] as string;
  }

  get authority(): string {
    return (this.headers[":authority"] ?? this.headers.host ?? "") as string;
  }

  get socket() {
    return this.stream.session?.socket;
  }

  setHeader(name: string, value: string): void {
    this.#fields ??= {};
    this.#fields[name.toLowerCase()] = value;
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  get isGone(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }

  get isComplete(): boolean {
    return this.#isComplete || this.stream.readableEnded;
  }

  onClose(listener: () => void): void {
    this.stream.once("close", listener);
  }

  read(onData: (chunk: Buffer) => void, onEnd: () => void): void {
    const { stream } = this;
    stream.on("data", onData).on("end", () => {
      // Node.js ends the body of a connection that was cut as if it were whole.
      if (stream.aborted || this.isGone) return;
      this.#isComplete = true;
      onEnd();
    });
  }

  readRest(): Promise<void> {
    return readRest(this.stream);
  }

  begin(status: number, fields: Fields): void {
    // Its end has not been told yet. Node.js would throw.
    if (this.isGone) return;
    // Node.js writes into what it is given.
    this.stream.respond({ ":status": status, ...fields, ...this.#fields }, { waitForTrailers: true });
  }

  get hasBegun(): boolean {
    return this.stream.headersSent;
  }

  write(bytes: Uint8Array): boolean {
    return !this.isGone && this.stream.write(bytes);
  }

  onDrain(listener: () => void): void {
    this.stream.once("drain", listener);
  }

  end(bytes?: Uint8Array, trailers?: Fields, onFailure?: (failure: unknown) => void): void {
    const { stream } = this;
    stream.once("wantTrailers", () => {
      try {
        stream.sendTrailers({ ...trailers });
        if (!this.isComplete) resetSoon(stream);
      } catch (failure) {
        onFailure?.(failure);
      }
    });
    stream.end(bytes);
  }

  cut(): void {
    this.stream.close(HTTP2_CODES.INTERNAL_ERROR);
  }

  closeConnection(): void {}
}
