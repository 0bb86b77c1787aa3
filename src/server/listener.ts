import { once } from "node:events";
import { Server as NetServer, type Socket } from "node:net";
import { ActuatorError } from "../error.ts";
import { addressOf, type ListenAddress, type ListenOptions, listenError, listenTarget } from "./address.ts";
import { type Drainable, drain } from "./drain.ts";
import { guard, type ServerErrorHandler } from "./guard.ts";
import type { RequestHandler } from "./handler.ts";
import { http1Server } from "./http1.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { type Limits, limitsWith } from "./limits.ts";
import { detectProtocol, type Protocol } from "./preface.ts";

/** How a listener is made. */
export interface ListenerOptions {
  /** Whether callers are asked who they are. Without that, only loopback hosts are listened on. Default false. */
  readonly authenticated?: boolean | undefined;
  /** Overrides single limits of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Hears what the handler threw and what went wrong in accepting connections. Default: the console. */
  readonly onError?: ServerErrorHandler | undefined;
}

/** How a listener ends. */
export interface DrainOptions {
  /** Milliseconds for answers under way; then they are cut off. Default `limits.drainDeadlineMs`. */
  readonly deadlineMs?: number | undefined;
  /**
   * Ends the answers that never end by themselves, such as watches. Called when no connection is accepted any more, and
   * again while the drain lasts for those that began in between.
   */
  readonly endStreams?: (() => void) | undefined;
}

/** What a listener holds at a moment. */
export interface ListenerCounts {
  /** Sockets of either protocol, those included whose protocol is not known yet. */
  readonly connections: number;
  /** HTTP/2 connections. */
  readonly sessions: number;
  /** Open HTTP/2 streams. */
  readonly streams: number;
}

/** One cleartext port that speaks HTTP/1.1 and HTTP/2 with prior knowledge. It lives once: what has ended stays so. */
export interface Listener {
  /**
   * Begins to listen. After a failure another address can be tried.
   *
   * @throws ActuatorError that says in an operator's words what is wrong and which option changes it.
   */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /**
   * Ends without losing an answer under way, see {@link drain}. Resolves when no connection is left. May be called again:
   * the earliest deadline counts.
   */
  drain(options?: DrainOptions): Promise<void>;
  readonly counts: ListenerCounts;
}

/** What Node's timers can wait for; they would take anything longer for nothing at all. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Makes a port for `handler`. The HTTP/1.1 server owns it; its listener for connections is replaced by one that looks at
 * the first bytes and hands what is HTTP/2 to a second server.
 */
export function createListener(handler: RequestHandler, options: ListenerOptions = {}): Listener {
  const limits = limitsWith(options.limits);
  const { onError = (error, context) => console.error(`${context}:`, error) } = options;
  const answer = guard(handler, onError);
  const connections = new Map<Socket, Protocol | undefined>();
  const ending = new AbortController();
  const deadline = new AbortController();
  let listening = false;
  let drained: Promise<void> | undefined;

  const http2 = new Http2Sessions(answer, limits);
  const http1 = http1Server(answer, limits, () => ending.signal.aborted);
  const serveHttp1 = http1.listeners("connection")[0] as (socket: Socket) => void;
  http1.removeAllListeners("connection");
  http1.on("connection", (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
    detectProtocol(socket, limits.protocolTimeoutMs, (protocol) => {
      connections.set(socket, protocol);
      if (protocol === "h2") http2.accept(socket);
      else serveHttp1.call(http1, socket);
    });
  });
  // Node ends the process for an error of a server that nobody listens for.
  http1.on("error", (error) => http1.listening && onError(error, "accepting a connection"));
  // After what has come in is read: a process that stood still, in a debugger say, must not take its clients for dead.
  const sweep = () => setImmediate(() => http2.sweep(performance.now()));
  const sweeper = setInterval(sweep, limits.sweepIntervalMs).unref();

  async function listen(listenOptions: ListenOptions): Promise<ListenAddress> {
    const target = listenTarget(listenOptions, options.authenticated);
    if (listening || ending.signal.aborted) throw unavailable(ending.signal.aborted);
    listening = true;
    http1.listen(target);
    await once(http1, "listening", { signal: ending.signal }).catch((error) => {
      listening = false;
      throw ending.signal.aborted ? unavailable(true) : listenError(error, target);
    });
    return addressOf(http1, target);
  }

  async function end(endStreams: () => void): Promise<void> {
    const closed = new Promise<void>((resolve) => http1.once("close", resolve));
    ending.abort();
    await drain(drainable(closed, endStreams), limits.drainGraceMs, deadline.signal);
    clearInterval(sweeper);
    // Ends Node's own timer too.
    http1.close();
  }

  function drainable(closed: Promise<void>, endStreams: () => void): Drainable {
    return {
      closed,
      endStreams,
      // http.Server.close would close idle connections too, under a request that is just arriving.
      stopListening: () => NetServer.prototype.close.call(http1),
      stopAccepting: () => http2.close(),
      closeIdle: () => {
        http1.closeIdleConnections();
        for (const [socket, protocol] of connections) if (protocol === undefined) socket.destroy();
      },
      destroy: () => {
        for (const socket of connections.keys()) socket.destroy();
      },
    };
  }

  return {
    listen,
    drain({ deadlineMs = limits.drainDeadlineMs, endStreams = () => {} } = {}) {
      const timer = setTimeout(() => deadline.abort(), Math.min(deadlineMs, LONGEST_TIMER));
      drained ??= end(endStreams);
      return drained.finally(() => clearTimeout(timer));
    },
    get counts() {
      return { connections: connections.size, sessions: http2.sessionCount, streams: http2.streamCount };
    },
  };
}

function unavailable(ended: boolean): ActuatorError {
  return ended
    ? new ActuatorError("FAILED_PRECONDITION", "LISTENER_CLOSED", "closed already; create another to listen again")
    : new ActuatorError("FAILED_PRECONDITION", "ALREADY_LISTENING", "listening already; one listener has one address");
}
