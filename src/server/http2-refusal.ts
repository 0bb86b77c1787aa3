import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { nodeHttp } from "../common/node-http.ts";
import { HTTP2_CODES } from "./http2-codes.ts";

const MESSAGE =
  "This server speaks HTTP/1.1 and gRPC needs HTTP/2: use gRPC-Web or Connect here, or a port of the actuator's own (listen).";

const FRAME = { headers: 1, settings: 4, ping: 6, goAway: 7 } as const;
const END_OF_HEADERS_AND_STREAM = 0x05;
const UNIMPLEMENTED = "12";
const PREFACE_LENGTH = 24;
const FRAME_HEADER_LENGTH = 9;

/** How much a client may send, and how long it may take, before its first request has begun. */
const MAX_BYTES = 64 * 1024;
const TIMEOUT_MS = 5_000;

let users = 0;
let watched: { readonly server: WeakRef<Server>; readonly emit: Server["emit"] }[] = [];
const refusals = new WeakMap<Socket, Refusal>();

/**
 * Answers native gRPC clients that connect to an HTTP/1.1 server of this process, until the returned function is called. Node.js answers
 * their preface in HTTP/1.1, which many clients take for a broken connection and try again until their deadline. A mounted handler does
 * not see such a connection, and does not know its server before the first request; so every server of `node:http` is watched.
 */
export function refuseHttp2(): () => void {
  if (users++ === 0) subscribe("net.server.socket", watch);
  let isOver = false;
  return () => {
    if (!isOver && --users === 0) stopWatching();
    isOver = true;
  };
}

function watch(message: unknown): void {
  const { server } = (message as { readonly socket: Socket & { readonly server?: unknown } }).socket;
  if (!(server instanceof nodeHttp().Server) || Object.hasOwn(server, "emit")) return;
  const { emit } = server;
  server.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
    if (event === "clientError" && isRefused(...(args as [ParseError, Socket]))) return true;
    return Reflect.apply(emit, this, [event, ...args]);
  } as Server["emit"];
  watched.push({ server: new WeakRef(server), emit: server.emit });
}

/** Returns their method to the servers, unless another library has replaced it since. */
function stopWatching(): void {
  unsubscribe("net.server.socket", watch);
  for (const { server, emit } of watched) {
    const object = server.deref();
    if (object?.emit === emit) Reflect.deleteProperty(object, "emit");
  }
  watched = [];
}

/** Node.js reports everything that such a client sends as errors of its parser, with the bytes. */
function isRefused({ code, rawPacket }: ParseError, socket: Socket): boolean {
  if (code !== "HPE_PAUSED_H2_UPGRADE" || rawPacket === undefined) return false;
  const refusal = refusals.get(socket) ?? new Refusal(socket);
  refusals.set(socket, refusal);
  refusal.read(rawPacket);
  return true;
}

interface ParseError {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Reads the frames of a client until its first request, which is answered as gRPC does, or a PING, which asks for the protocol only. */
class Refusal {
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  #bytes: Buffer = Buffer.alloc(0);
  #at = PREFACE_LENGTH;
  #ended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#timer = setTimeout(() => socket.destroy(), TIMEOUT_MS).unref();
    socket.on("error", () => socket.destroy()).on("close", () => clearTimeout(this.#timer));
    socket.write(frame(FRAME.settings, 0, 0, Buffer.alloc(0)));
  }

  read(bytes: Buffer): void {
    if (this.#ended) return;
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= this.#at + FRAME_HEADER_LENGTH) {
      const length = this.#bytes.readUIntBE(this.#at, 3);
      const stream = this.#bytes.readUInt32BE(this.#at + 5) & 0x7fffffff;
      const type = this.#bytes[this.#at + 3];
      if (type === FRAME.headers || type === FRAME.ping) {
        this.#answer(stream);
        return;
      }
      this.#at += FRAME_HEADER_LENGTH + length;
    }
    if (this.#bytes.length > MAX_BYTES) this.#socket.destroy();
  }

  #answer(stream: number): void {
    this.#ended = true;
    const goAway = Buffer.alloc(8);
    goAway.writeUInt32BE(stream, 0);
    goAway.writeUInt32BE(HTTP2_CODES.HTTP_1_1_REQUIRED, 4);
    const answer = stream === 0 ? [] : [frame(FRAME.headers, END_OF_HEADERS_AND_STREAM, stream, ANSWER)];
    this.#socket.end(
      Buffer.concat([...answer, frame(FRAME.goAway, 0, 0, Buffer.concat([goAway, Buffer.from(MESSAGE)]))]),
    );
  }
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEADER_LENGTH);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header without indexing or compression (RFC 7541 section 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

/** RFC 7541 section 5.2: the length as an integer of 7 bits, which continues in a second byte. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = bytes.length < 127 ? [bytes.length] : [127, ...rest(bytes.length - 127)];
  return Buffer.concat([Buffer.from(length), bytes]);
}

function rest(length: number): number[] {
  return length < 128 ? [length] : [(length & 127) | 128, ...rest(length >> 7)];
}

/** `:status: 200`, and what gRPC sends in place of trailers. */
const ANSWER = Buffer.concat([
  Buffer.of(0x88),
  literal("content-type", "application/grpc"),
  literal("grpc-status", UNIMPLEMENTED),
  literal("grpc-message", MESSAGE),
]);
