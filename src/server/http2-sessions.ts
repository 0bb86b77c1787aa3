import type { Http2Server, Http2ServerResponse, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { nodeHttp2 } from "../common/node-http.ts";
import type { Connection } from "./connections.ts";
import { noteOwnConnection } from "./connections.ts";
import type { RequestHandler, StreamHandler } from "./handler.ts";
import { continueWhenRead } from "./handler.ts";
import { HTTP2_CODES } from "./http2-codes.ts";
import { isOver, type Limits } from "./limits.ts";

interface StreamRecord {
  readonly openedAt: number;
  /** Bytes of the answer not yet taken by the client, and since when their number stands still. */
  pendingBytes: number;
  pendingSince: number;
}

interface SessionRecord {
  readonly socket: Socket;
  readonly connection: Connection;
  readonly streams: Map<ServerHttp2Stream, StreamRecord>;
  /** When the last stream closed; the start of the session before the first. */
  idleSince: number;
  bytesRead: number;
  readAt: number;
  /** When the sign of life under way was asked for. */
  pingedAt: number | undefined;
  /** When the session was first seen ended while its socket was still open. */
  endedAt: number | undefined;
  /** Whether a GOAWAY came with its last answer. */
  isEnding: boolean;
}

/**
 * The HTTP/2 connections of a port, with time limits that Node.js lacks: for idle connections, dead peers, requests that never
 * end and answers that are not read. {@link sweep} enforces them.
 */
export class Http2Sessions {
  readonly #handler: RequestHandler;
  readonly #streamHandler: StreamHandler;
  readonly #limits: Limits;
  /** Made for the first connection, because it loads `node:http2`. */
  #server: Http2Server | undefined;
  readonly #sessions = new Map<ServerHttp2Session, SessionRecord>();
  #closing = false;

  /** @param streamHandler is asked first; `handler` answers what it leaves */
  constructor(handler: RequestHandler, limits: Limits, streamHandler: StreamHandler = () => false) {
    this.#handler = handler;
    this.#streamHandler = streamHandler;
    this.#limits = limits;
  }

  #createServer(): Http2Server {
    const limits = this.#limits;
    const answer = this.#handler;
    const server = nodeHttp2().createServer(
      {
        settings: { maxConcurrentStreams: limits.maxConcurrentStreams, maxHeaderListSize: limits.maxHeaderBytes },
        maxSessionMemory: limits.maxSessionMemoryMb,
        maxSessionInvalidFrames: limits.maxInvalidFrames,
        maxSessionRejectedStreams: limits.maxRejectedStreams,
        Http2ServerResponse: http2Response(),
      },
      answer,
    );
    server.on("checkContinue", (req, res) => {
      continueWhenRead(req, res);
      answer(req, res);
    });
    // The first bytes of a connection come in one piece, so a stream may have ended before its event. Node.js would still answer
    // its expectation, which throws where it cannot be caught.
    const [serve] = server.listeners("stream") as [(stream: ServerHttp2Stream, ...rest: unknown[]) => void];
    server.removeAllListeners("stream");
    server.on("stream", (stream, headers, flags, rawHeaders) => {
      if (stream.closed || stream.destroyed) return void stream.on("error", () => {}).destroy();
      const refusal = this.#refusalOf(stream, rawHeaders);
      if (refusal !== undefined) stream.on("error", () => {}).close(refusal);
      else if (!this.#streamHandler(stream, headers, rawHeaders))
        serve.call(server, stream, headers, flags, rawHeaders);
    });
    return server;
  }

  /** The code with which a stream is refused that must not be answered. */
  #refusalOf(stream: ServerHttp2Stream, rawHeaders: readonly string[]): number | undefined {
    if (this.#closing && this.#isBesideAnother(stream)) return HTTP2_CODES.REFUSED_STREAM;
    const isLarge = isTooLarge(stream, rawHeaders, this.#limits.maxHeaderBytes);
    return isLarge ? HTTP2_CODES.ENHANCE_YOUR_CALM : undefined;
  }

  /** Serves a connection that begins with the preface. */
  accept(socket: Socket, connection: Connection): void {
    // A half-open socket would keep its session forever after the client has gone.
    socket.allowHalfOpen = false;
    this.#server ??= this.#createServer();
    this.#server.once("session", (session) => this.#add(session, socket, connection));
    this.#server.emit("connection", socket);
  }

  /** Connections now. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Open streams of all connections now. */
  get streamCount(): number {
    let count = 0;
    for (const { streams } of this.#sessions.values()) count += streams.size;
    return count;
  }

  /** Ends everything that is over its limit at `now`, a time of `performance.now()`. */
  sweep(now: number): void {
    for (const [session, record] of this.#sessions) {
      if (record.socket.bytesRead !== record.bytesRead) {
        record.bytesRead = record.socket.bytesRead;
        record.readAt = now;
        record.pingedAt = undefined;
      }
      this.#sweepSession(session, record, now);
      for (const [stream, streamRecord] of record.streams) this.#sweepStream(stream, streamRecord, now);
    }
  }

  /**
   * Ends each connection with its last open stream, and refuses further streams beside one, which is safe to repeat elsewhere (RFC 9113
   * section 8.7).
   *
   * The GOAWAY waits for that moment, and comes with the last answer. After one, whatever stream it names, nghttp2 ignores new streams, and
   * takes it for a protocol error when a client resets one of them: the whole connection ends, answers under way included.
   *
   * A connection without a stream gets a PING, and ends when the client answers. nginx does not: it closes a connection that it keeps for
   * later when there is anything to read on it. A GOAWAY could cross a request, which nginx does not repeat: its client gets 502. It may
   * answer one PING with the next request, hence two.
   */
  close(): void {
    this.#closing = true;
    for (const [session, record] of this.#sessions) {
      for (const stream of record.streams.keys()) this.#announceEnd(session, record, stream);
      endWhenIdle(session, record);
    }
  }

  /** Whether the connection has another open stream. The event of one that is over may come after the first of the next. */
  #isBesideAnother(stream: ServerHttp2Stream): boolean {
    const streams = this.#sessions.get(stream.session as ServerHttp2Session)?.streams.keys() ?? [];
    return [...streams].some((other) => other !== stream && !other.closed);
  }

  #add(session: ServerHttp2Session, socket: Socket, connection: Connection): void {
    const now = performance.now();
    const record: SessionRecord = {
      socket,
      connection,
      streams: new Map(),
      idleSince: now,
      bytesRead: 0,
      readAt: now,
      pingedAt: undefined,
      endedAt: undefined,
      isEnding: false,
    };
    this.#sessions.set(session, record);
    noteOwnConnection(session, connection);
    // Neither listener may hold the record, or the session leads to its socket, and Node never frees either: the socket leads
    // to the error that ended the session, whose stack leads to the native session, and that one, when its SETTINGS are not
    // acknowledged, holds the session for good.
    session.on("close", () => this.#sessions.delete(session));
    session.on("stream", (stream) => this.#addStream(session, stream));
    if (this.#closing) session.close();
  }

  #addStream(session: ServerHttp2Session, stream: ServerHttp2Stream): void {
    const record = this.#sessions.get(session);
    if (record === undefined || stream.closed) return;
    record.streams.set(stream, { openedAt: performance.now(), pendingBytes: 0, pendingSince: 0 });
    record.connection.began();
    stream.on("aborted", () => {
      // Node would end the body as if it were whole.
      if (stream.rstCode === HTTP2_CODES.NO_ERROR) stream.destroy();
    });
    if (this.#closing) this.#announceEnd(session, record, stream);
    stream.on("close", () => {
      record.streams.delete(stream);
      record.connection.ended();
      record.idleSince = performance.now();
      // Not within the event: there Node 22.12 loses what is not written yet, or its memory is corrupted.
      if (this.#closing) setImmediate(() => endWhenIdle(session, record));
    });
  }

  /** Sends the GOAWAY of a connection with the end of an answer, if that is its last one. */
  #announceEnd(session: ServerHttp2Session, record: SessionRecord, stream: ServerHttp2Stream): void {
    const announce = () => {
      if (record.isEnding || this.#isBesideAnother(stream)) return;
      record.isEnding = true;
      session.goaway();
    };
    // Before the listener that sends the end of the answer. An answer without a body has none.
    stream.prependOnceListener("wantTrailers", announce);
    stream.once(ENDED_WITH_HEADERS, announce);
  }

  #sweepSession(session: ServerHttp2Session, record: SessionRecord, now: number): void {
    const { idleSessionTimeoutMs, pingIntervalMs, pingTimeoutMs } = this.#limits;
    if (session.destroyed) {
      // Node waits for the peer to take what was written and to close its side.
      record.endedAt ??= now;
      if (isOver(now - record.endedAt, pingTimeoutMs)) record.socket.destroy();
    } else if (session.closed) {
      // Node sends no PING on a closing session, so silence alone tells a dead peer.
      if (isOver(now - record.readAt, idleSessionTimeoutMs)) session.destroy();
    } else if (record.streams.size === 0 && isOver(now - record.idleSince, idleSessionTimeoutMs)) {
      session.close();
    } else if (record.pingedAt !== undefined) {
      if (isOver(now - record.pingedAt, pingTimeoutMs)) session.destroy();
    } else if (isOver(now - record.readAt, pingIntervalMs)) {
      record.pingedAt = now;
      // The answer shows in bytesRead, as any other sign of life does.
      session.ping(() => {});
    }
  }

  #sweepStream(stream: ServerHttp2Stream, record: StreamRecord, now: number): void {
    const { requestTimeoutMs, stalledWriteTimeoutMs } = this.#limits;
    if (stream.destroyed) return;
    if (stream.writableLength !== record.pendingBytes) {
      record.pendingBytes = stream.writableLength;
      record.pendingSince = now;
    }
    if (record.pendingBytes > 0 && stream.closed && stream.state.state === STREAM_STATE_IDLE) {
      // Reset with NO_ERROR, after which Node waits for bytes to be taken that cannot be sent any more.
      stream.destroy();
    } else if (record.pendingBytes > 0) {
      if (isOver(now - record.pendingSince, stalledWriteTimeoutMs)) stream.close(HTTP2_CODES.CANCEL);
    } else if (
      isOver(now - record.openedAt, requestTimeoutMs) &&
      !isConversation(stream) &&
      stream.state.remoteClose !== 1
    ) {
      // A 408 here would make the handler take what has come of the body for all of it.
      stream.close(HTTP2_CODES.CANCEL);
    }
  }
}

/** After its GOAWAY, a session that is closed loses what Node.js has not written yet, such as the trailers of the last answer. */
const FLUSH_MS = 100;

/** Ends a connection without an open stream: soon if its client knows, or else when it has answered two PINGs in that time. */
function endWhenIdle(session: ServerHttp2Session, record: SessionRecord, answered = 0): void {
  if (session.closed || session.destroyed || record.streams.size > 0) return;
  const { idleSince, isEnding } = record;
  if (isEnding) {
    setTimeout(() => session.close(), FLUSH_MS).unref();
  } else if (answered === 2) {
    session.close();
  } else {
    session.ping((error) => {
      if (error === null && record.idleSince === idleSince) endWhenIdle(session, record, answered + 1);
    });
  }
}

/** The event of a stream whose answer has ended with its headers. */
const ENDED_WITH_HEADERS = Symbol("ended with headers");
const NO_BODY = new Set([204, 205, 304]);
/** Of nghttp2: neither side has opened the stream, or nghttp2 has forgotten it. */
const STREAM_STATE_IDLE = 1;

/**
 * Makes the class of answers, which may come too late. Node 22 throws where the client has reset the stream before, which ends the process
 * when it happens in a promise; Node 24 does nothing, like this.
 */
function http2Response() {
  return class Http2Response extends nodeHttp2().Http2ServerResponse {
    override end(...args: unknown[]): this {
      const { stream } = this;
      const isBodiless = typeof args[0] !== "string" && !(args[0] instanceof Uint8Array);
      const endsWithHeaders =
        isBodiless && (!stream.headersSent || this.req.method === "HEAD" || NO_BODY.has(this.statusCode));
      super.end(...(args as Parameters<Http2ServerResponse["end"]>));
      // What is sent now leaves together with the headers.
      if (endsWithHeaders) stream.emit(ENDED_WITH_HEADERS);
      return this;
    }

    override writeHead(...args: unknown[]): this {
      return this.stream.closed ? this : super.writeHead(...(args as Parameters<Http2ServerResponse["writeHead"]>));
    }
  };
}

/**
 * Whether the headers are larger than the announced maximum, by the count of RFC 9113 section 6.5.2. Node.js enforces it only
 * once the client has acknowledged it, which a hostile client never does.
 */
function isTooLarge(stream: ServerHttp2Stream, rawHeaders: readonly string[], maxBytes: number): boolean {
  if (stream.session?.pendingSettingsAck !== true) return false;
  return rawHeaders.reduce((bytes, { length }) => bytes + length, 16 * rawHeaders.length) > maxBytes;
}

/** True while the answer has begun and not ended: such a request may go on as long as its peer lives. */
function isConversation(stream: ServerHttp2Stream): boolean {
  return stream.headersSent && !stream.writableEnded;
}
