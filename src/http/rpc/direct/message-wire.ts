import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { HTTP2_CODES } from "../../../server/http2-codes.ts";
import type { GateRequest, GateResponse } from "../../gate/request.ts";
import { discardRest, isGone, readRest, whenOver } from "../calls/node-request.ts";
import type { Fields, Wire } from "./wire.ts";

/** A body that is written together with its headers, if it is a string. */
const ONE_WRITE_BYTES = 16 * 1024;

/** A request and a response of Node.js: HTTP/1.1, or HTTP/2 in a server of the application. */
export class MessageWire implements Wire {
  readonly request: GateRequest;
  readonly response: GateResponse;
  readonly url: string;
  /** `response`: TypeScript cannot call the methods of the union. */
  readonly #answer: ServerResponse;
  /** What waits until the client has taken more; undefined before anything has waited. */
  #waiting: (() => void) | undefined;

  constructor(request: GateRequest, response: GateResponse, url: string) {
    this.request = request;
    this.response = response;
    this.#answer = response as ServerResponse;
    this.url = url;
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get method(): string {
    return this.request.method ?? "";
  }

  get isGone(): boolean {
    return isGone(this.request, this.response);
  }

  get isComplete(): boolean {
    const { request } = this;
    return "stream" in request ? request.readableEnded || request.stream.readableEnded : request.complete;
  }

  onClose(listener: () => void): void {
    whenOver(this.request, this.response, listener);
  }

  read(onData: (chunk: Buffer) => void, onEnd: () => void): void {
    const request = this.request as IncomingMessage;
    // What an error means, the end of the response tells.
    request.on("data", onData).on("error", () => {});
    // Node.js ends the body of a stream of HTTP/2 that was reset as if it were whole.
    request.on("end", () => request.aborted || onEnd());
  }

  readRest(): Promise<void> | undefined {
    const { request } = this;
    return "stream" in request ? readRest(request) : undefined;
  }

  begin(status: number, fields: Fields): void {
    if (!this.isComplete) discardRest(this.request, this.response);
    this.#answer.writeHead(status, fields);
  }

  get hasBegun(): boolean {
    return this.#answer.headersSent;
  }

  write(bytes: Uint8Array): boolean {
    const isTaken = this.#answer.write(bytes);
    // Middleware that compresses answers would keep them back.
    (this.#answer as { flush?: () => void }).flush?.();
    return isTaken;
  }

  onDrain(listener: () => void): void {
    if (this.#waiting === undefined) this.#answer.on("drain", () => this.#drained());
    this.#waiting = listener;
  }

  /** One listener serves the whole answer: middleware that compresses hands it to its own stream, and `once` could not remove it there. */
  #drained(): void {
    const waiting = this.#waiting;
    this.#waiting = () => {};
    waiting?.();
  }

  end(bytes?: Uint8Array, trailers?: Fields): void {
    if (trailers !== undefined) this.#answer.addTrailers(trailers as Readonly<Record<string, string>>);
    if (bytes === undefined) this.#answer.end();
    // Node.js writes a string in one piece with the headers, and bytes in another.
    else if (bytes.length <= ONE_WRITE_BYTES) this.#answer.end(latin1(bytes), "latin1");
    else this.#answer.end(bytes);
  }

  cut(): void {
    if ("stream" in this.request) this.request.stream.close(HTTP2_CODES.INTERNAL_ERROR);
    else this.#answer.destroy();
  }

  closeConnection(): void {
    // HTTP/2 ends only the stream, and forbids the header.
    if (!("stream" in this.response) && !this.hasBegun) this.#answer.setHeader("connection", "close");
  }
}

function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
