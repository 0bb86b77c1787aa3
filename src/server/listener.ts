import { once } from "node:events";
import { Server as NetServer, type Socket } from "node:net";
import { ActuatorError } from "../common/error.ts";
import { LONGEST_TIMER_MS } from "../common/timeout.ts";
import { addressOf, type ListenAddress, type ListenTarget, listenError, listenTarget } from "./address.ts";
import { noteCertificateDemands } from "./client-certificate.ts";
import { Connections, speakersForMany } from "./connections.ts";
import { type Drainable, drain } from "./drain.ts";
import { careful, guard, guardStreams, reportError, type ServerErrorHandler } from "./guard.ts";
import type { RequestHandler, StreamHandler } from "./handler.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { type Limits, limitsWith } from "./limits.ts";
import type { ListenOptions } from "./listen-options.ts";
import type { TrustedProxies } from "./peer.ts";
import { cleartextPort, type PortParts, securePort } from "./port.ts";
import type { TlsCredentials } from "./tls-credentials.ts";
import type { TlsOptions } from "./tls-options.ts";
import { listenOnPath } from "./unix-socket.ts";

/** How a listener is made. */
export interface ListenerOptions {
  /** Whether callers must authenticate. Without that, only loopback hosts are allowed. Default false. */
  readonly authenticated?: boolean | undefined;
  /** Proxies that speak for many clients, and are not counted as one. This machine is exempt too. */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** Overrides single limits of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Takes streams of HTTP/2 that it can answer without a request and a response of Node.js. */
  readonly streamHandler?: StreamHandler | undefined;
  /** Called with errors of the handler and of accepting connections. Default: writes them to the console. */
  readonly onError?: ServerErrorHandler | undefined;
}

/** How a listener ends. */
export interface DrainOptions {
  /** Milliseconds in which everything goes on as before. Default `limits.drainDelayMs`. */
  readonly delayMs?: number | undefined;
  /** Milliseconds after those for answers under way; then they are cut off. Default `limits.drainDeadlineMs`. */
  readonly deadlineMs?: number | undefined;
  /**
   * Ends the answers that never end by themselves, such as watches. Called when no connection is accepted any more, and
   * again while the drain lasts for those that began in between.
   */
  readonly endStreams?: (() => void) | undefined;
}

/** What a listener holds at a moment. */
export interface ListenerCounts {
  /** Sockets of either protocol, those included whose protocol is not known yet or whose TLS handshake is under way. */
  readonly connections: number;
  /** HTTP/2 connections. */
  readonly sessions: number;
  /** Open HTTP/2 streams. */
  readonly streams: number;
}

/**
 * One port for HTTP/1.1 and HTTP/2, cleartext (with prior knowledge) or over TLS. It cannot be used again once it has ended.
 */
export interface Listener {
  /**
   * Begins to listen. After a failure another address can be tried.
   *
   * @throws ActuatorError that says in an operator's words what is wrong and which option changes it.
   */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /** Serves a connection that `accepting` has accepted, in cleartext. It is cut off at the end of {@link drain}. */
  take(socket: Socket, accepting: NetServer): void;
  /**
   * Ends without losing an answer under way, see {@link drain}. Resolves when no connection is left. May be called again:
   * the earliest deadline counts.
   */
  drain(options?: DrainOptions): Promise<void>;
  readonly counts: ListenerCounts;
  /** The end of validity of the port's certificate, in milliseconds since the epoch; undefined without TLS. */
  readonly certificateValidTo: number | undefined;
}

/** Makes a port for `handler`. */
export function createListener(handler: RequestHandler, options: ListenerOptions = {}): Listener {
  const { authenticated = false, trustedProxies } = options;
  const limits = limitsWith(options.limits);
  const onError = careful(options.onError ?? reportError);
  const answer = guard(handler, onError);
  const delayed = new AbortController();
  const ending = new AbortController();
  const deadline = new AbortController();
  const connections = new Connections({
    max: limits.maxConnections,
    maxPerClient: limits.maxConnectionsPerAddress,
    exempt: speakersForMany(trustedProxies),
    authenticated,
  });
  const http2 = new Http2Sessions(
    answer,
    limits,
    options.streamHandler && guardStreams(options.streamHandler, onError),
  );
  const parts: PortParts = { handler: answer, limits, draining: () => ending.signal.aborted, connections, http2 };
  let server: ReturnType<typeof cleartextPort> | ReturnType<typeof securePort> | undefined;
  /** Serves the connections that another server accepts. */
  let taking: ReturnType<typeof cleartextPort> | undefined;
  let listening = false;
  let drained: Promise<void> | undefined;
  let certificate: TlsCredentials["certificate"] | undefined;
  let removePath = () => {};
  let stopReloading = () => {};
  // After what has come in is read: a process that stood still, in a debugger say, must not take its clients for dead.
  const sweep = () => setImmediate(() => http2.sweep(performance.now()));
  const sweeper = setInterval(sweep, limits.sweepIntervalMs).unref();

  async function listen(listenOptions: ListenOptions): Promise<ListenAddress> {
    const target = listenTarget(listenOptions, authenticated);
    if (listening || ending.signal.aborted) throw unavailable(ending.signal.aborted);
    listening = true;
    try {
      server = listenOptions.tls === undefined ? cleartextPort(parts) : await secured(listenOptions.tls);
      await bind(server, target, listenOptions.unref);
      return addressOf(server, target, listenOptions.tls === undefined ? "http" : "https");
    } catch (error) {
      listening = false;
      stopReloading();
      server?.close();
      server = undefined;
      throw ending.signal.aborted ? unavailable(true) : listenError(error as Error, target);
    }
  }

  async function secured(tls: TlsOptions): Promise<ReturnType<typeof securePort>> {
    const { readCredentials, tlsSettings } = await import("./tls-credentials.ts");
    const { reloadCredentials, tellOfEnd } = await import("./tls-reload.ts");
    const credentials = await readCredentials(tls);
    const secure = securePort(parts, { ...credentials.context, ...tlsSettings(tls, limits) });
    let stopTelling = () => {};
    const inForce = (credentials: TlsCredentials) => {
      const { revocations } = credentials;
      noteCertificateDemands(secure, { required: tls.clientCertificate === "require", revocations });
      certificate = credentials.certificate;
      stopTelling();
      stopTelling = tellOfEnd(credentials, onError);
    };
    inForce(credentials);
    const apply = (renewed: TlsCredentials) => {
      secure.setSecureContext(renewed.context);
      inForce(renewed);
    };
    const stopFollowing = reloadCredentials(tls, credentials, apply, onError);
    stopReloading = () => {
      stopFollowing();
      stopTelling();
    };
    return secure;
  }

  async function bind(port: NonNullable<typeof server>, target: ListenTarget, unref?: boolean): Promise<void> {
    ending.signal.throwIfAborted();
    // An error of a server without a listener would end the process.
    port.on("error", (error) => port.listening && onError(error, "accepting a connection"));
    if (unref) port.unref().on("connection", (socket: Socket) => socket.unref());
    if ("path" in target) {
      removePath = await listenOnPath(port, target.path, target.mode, ending.signal);
    } else {
      port.listen(target);
      await once(port, "listening", { signal: ending.signal });
    }
  }

  async function end(endStreams: () => void): Promise<void> {
    const closed = new Promise<void>((resolve) => (server === undefined ? resolve() : server.once("close", resolve)));
    if (server !== undefined && !delayed.signal.aborted) await once(delayed.signal, "abort");
    ending.abort();
    stopReloading();
    await drain(drainable(closed, endStreams), limits.drainGraceMs, deadline.signal);
    clearInterval(sweeper);
    // The drain waited for those of the port alone.
    if (taking !== undefined) connections.destroy();
    // Ends Node's own timer too.
    for (const each of [server, taking]) each?.close();
  }

  /** A step that throws must not prevent the other steps, least of all the last. */
  function step(name: string, action: () => void): () => void {
    return () => {
      try {
        action();
      } catch (error) {
        onError(error, `draining: ${name}`);
      }
    };
  }

  function drainable(closed: Promise<void>, endStreams: () => void): Drainable {
    return {
      closed,
      endStreams: step("ending streams", endStreams),
      stopListening: step("closing the port", () => {
        // http.Server.close would close idle connections too, under a request that is just arriving.
        if (server !== undefined) NetServer.prototype.close.call(server);
        removePath();
      }),
      stopAccepting: step("refusing requests", () => http2.close()),
      closeIdle: step("closing idle connections", () => {
        server?.closeIdleConnections();
        connections.destroyUndecided();
      }),
      destroy: step("cutting off", () => connections.destroy()),
    };
  }

  return {
    listen,
    take(socket, accepting) {
      if (taking === undefined) {
        taking = cleartextPort(parts);
        // Says whether clients come by a Unix socket.
        taking.address = () => accepting.address();
        // Starts Node's own timeouts.
        taking.emit("listening");
      }
      taking.emit("connection", socket);
    },
    drain({ delayMs = limits.drainDelayMs, deadlineMs = limits.drainDeadlineMs, endStreams = () => {} } = {}) {
      if (delayMs === 0) delayed.abort();
      const timers = [abortAfter(delayMs, delayed), abortAfter(delayMs + deadlineMs, deadline)];
      drained ??= end(endStreams);
      return drained.finally(() => timers.forEach(clearTimeout));
    },
    get certificateValidTo() {
      return certificate && Date.parse(certificate.validTo);
    },
    get counts() {
      return { connections: connections.size, sessions: http2.sessionCount, streams: http2.streamCount };
    },
  };
}

function unavailable(ended: boolean): ActuatorError {
  return ended
    ? new ActuatorError("FAILED_PRECONDITION", "LISTENER_CLOSED", "already closed; create another one to listen again")
    : new ActuatorError("FAILED_PRECONDITION", "ALREADY_LISTENING", "already listening; a listener has one address");
}

function abortAfter(milliseconds: number, controller: AbortController): NodeJS.Timeout {
  return setTimeout(() => controller.abort(), Math.min(milliseconds, LONGEST_TIMER_MS));
}
