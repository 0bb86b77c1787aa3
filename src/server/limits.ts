import { type Checks, checkOptions, count, countFrom, option, timerMs } from "../common/options.ts";
import { LONGEST_TIMER_MS } from "../common/timeout.ts";

/**
 * Limits of a listener. Times are milliseconds; each may be late by `sweepIntervalMs`. A 0 is no limit, over either
 * protocol, where it does not say otherwise. A URL has no limit of its own: it is part of `maxHeaderBytes`.
 */
export interface Limits {
  /**
   * Sockets at a time, of either protocol. A management port has few clients. Each new one beyond that takes the place of an
   * idle one: of the client with most of these, the one that is idle for longest. If none is idle, the new one is closed at
   * once. A connection is idle while it has no request in progress; if callers must authenticate, requests of unauthenticated
   * clients do not count.
   */
  readonly maxConnections: number;
  /**
   * Sockets at a time of one client: an IPv4 address, or the /64 of an IPv6 address. Trusted proxies and this machine are
   * exempt, since they speak for many; any other proxy has room for a fifth of all. Further ones take the place of idle ones of
   * the same client.
   */
  readonly maxConnectionsPerAddress: number;
  /** From the connection to the bytes that tell the protocol. Browsers open connections ahead of need. */
  readonly protocolTimeoutMs: number;
  /** For a TLS handshake, from its first byte. A 0 leaves it at Node's two minutes. */
  readonly handshakeTimeoutMs: number;
  /** From the first byte of an HTTP/1.1 request to the end of its headers; ends in 408. */
  readonly headersTimeoutMs: number;
  /** For a whole request, body included; ends in 408, over HTTP/2 in a reset stream. Bodies are below 64 KiB here. */
  readonly requestTimeoutMs: number;
  /** Between two HTTP/1.1 requests. Above the 60 s of common proxies, so that it is the proxy who closes. */
  readonly keepAliveTimeoutMs: number;
  /** Without any progress of an answer that its client does not read. An answer that waits for news is not stalled. */
  readonly stalledWriteTimeoutMs: number;
  /** Request line and headers, over either protocol; above 0. Node's own default, said here so that it stays. */
  readonly maxHeaderBytes: number;
  /** HTTP/1.1 requests on one connection. A limit would only cost honest pollers reconnects. */
  readonly maxRequestsPerConnection: number;
  /** Open streams of one HTTP/2 connection; above 0. RFC 9113 section 6.5.2 advises no less than 100; Node announces none. */
  readonly maxConcurrentStreams: number;
  /** What one HTTP/2 connection may hold in megabytes before new streams are refused; above 0. */
  readonly maxSessionMemoryMb: number;
  /** Invalid frames after which an HTTP/2 connection ends; above 0. Node's default is 1,000. */
  readonly maxInvalidFrames: number;
  /** Streams over the limits above after which an HTTP/2 connection ends; above 0. */
  readonly maxRejectedStreams: number;
  /** An HTTP/2 connection without an open stream. Node has no such limit. */
  readonly idleSessionTimeoutMs: number;
  /** Silence of an HTTP/2 peer after which it gets a PING. 0 sends none. */
  readonly pingIntervalMs: number;
  /** For that sign; then the peer is dead and its streams end. Also for a peer to close its side of an ended connection. */
  readonly pingTimeoutMs: number;
  /** How often the limits on time are looked after; above 0. */
  readonly sweepIntervalMs: number;
  /**
   * In a drain: while health already says OUT_OF_SERVICE and everything is still answered. As long as a load
   * balancer takes to notice; the default is not to wait.
   */
  readonly drainDelayMs: number;
  /** In a drain, after the delay: before idle HTTP/1.1 connections close, for requests that are just arriving. A 0 is no wait. */
  readonly drainGraceMs: number;
  /**
   * In a drain, after the delay: for answers under way, the grace included. A 0 cuts them off: there always is an end. Below
   * the 30 s that container platforms wait after SIGTERM.
   */
  readonly drainDeadlineMs: number;
}

/** The limits in force unless an application says otherwise. */
export const DEFAULT_LIMITS: Limits = {
  maxConnections: 1_000,
  maxConnectionsPerAddress: 200,
  protocolTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  stalledWriteTimeoutMs: 60_000,
  maxHeaderBytes: 16_384,
  maxRequestsPerConnection: 0,
  maxConcurrentStreams: 100,
  maxSessionMemoryMb: 10,
  maxInvalidFrames: 100,
  maxRejectedStreams: 100,
  idleSessionTimeoutMs: 60_000,
  pingIntervalMs: 20_000,
  pingTimeoutMs: 10_000,
  sweepIntervalMs: 1_000,
  drainDelayMs: 0,
  drainGraceMs: 100,
  drainDeadlineMs: 10_000,
};

/** Limits that cannot be switched off with a 0. */
const ABOVE_ZERO: ReadonlySet<string> = new Set([
  ...["maxHeaderBytes", "maxConcurrentStreams", "maxSessionMemoryMb", "maxInvalidFrames", "maxRejectedStreams"],
  "sweepIntervalMs",
]);

/** The checks of {@link Limits}. */
export const LIMITS = Object.fromEntries(
  Object.entries(DEFAULT_LIMITS).map(([name, value]) => {
    const check = name.endsWith("Ms") ? timerMs : count;
    return [name, option(ABOVE_ZERO.has(name) ? countFrom(1, LONGEST_TIMER_MS) : check, { default: value })];
  }),
) as Checks<Limits>;

/**
 * The default limits with these in place of single ones; undefined stands for the default.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a limit that does not exist or does not fit.
 */
export function limitsWith(overrides: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } = {}): Limits {
  checkOptions("limits", overrides, LIMITS);
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)),
  };
}

/** Whether more time has gone by than a limit allows; one of 0 allows any. */
export function isOver(elapsedMs: number, limitMs: number): boolean {
  return limitMs > 0 && elapsedMs > limitMs;
}
