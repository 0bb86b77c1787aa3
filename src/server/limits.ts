import { type Checks, checkOptions, count, countFrom, option, timerMs } from "../common/options.ts";
import { LONGEST_TIMER_MS } from "../common/timeout.ts";

/**
 * Limits of a listener. Times are in milliseconds and may be exceeded by `sweepIntervalMs`. 0 means no limit, unless a limit
 * says otherwise. A URL has no limit of its own: it is part of `maxHeaderBytes`.
 */
export interface Limits {
  /**
   * The most open connections, HTTP/1.1 and HTTP/2 together. Beyond it, each new connection replaces an idle one: of the client
   * with the most idle connections, the one that has been idle longest. If none is idle, the new one is closed. A connection is
   * idle while no request is in progress on it; if callers must authenticate, requests of unauthenticated clients do not count.
   */
  readonly maxConnections: number;
  /**
   * The most open connections of one client: an IPv4 address, or the /64 of an IPv6 address. Beyond it, each new one replaces
   * an idle one of the same client. Trusted proxies and this machine are exempt, since many clients share them; any other proxy
   * may have a fifth of all connections.
   */
  readonly maxConnectionsPerAddress: number;
  /**
   * From the connection to the first bytes, which show the protocol. Browsers open connections before they need them.
   */
  readonly protocolTimeoutMs: number;
  /** For a TLS handshake, from its first byte. 0 keeps the two minutes of Node.js. */
  readonly handshakeTimeoutMs: number;
  /** From the first byte of an HTTP/1.1 request to the end of its headers; then the server answers 408. */
  readonly headersTimeoutMs: number;
  /**
   * For a whole request with its body, which is at most 64 KiB; then the server answers 408, or resets the stream over HTTP/2. A mounted
   * handler ends calls of RPC whose body takes longer.
   */
  readonly requestTimeoutMs: number;
  /**
   * Between two HTTP/1.1 requests. Longer than the 60 s of common proxies, so that the proxy closes the connection first.
   */
  readonly keepAliveTimeoutMs: number;
  /** For an answer of which the client reads nothing. A watch that has nothing to send is not stalled. */
  readonly stalledWriteTimeoutMs: number;
  /** The largest request line and headers together; above 0. The same as the default of Node.js. */
  readonly maxHeaderBytes: number;
  /**
   * The most HTTP/1.1 requests on one connection. Default 0, no limit: a limit would only make frequent pollers reconnect.
   */
  readonly maxRequestsPerConnection: number;
  /** The most open streams of one HTTP/2 connection; above 0. RFC 9113 section 6.5.2 recommends at least 100. */
  readonly maxConcurrentStreams: number;
  /** The memory of one HTTP/2 connection in megabytes, beyond which it refuses new streams; above 0. */
  readonly maxSessionMemoryMb: number;
  /** The most invalid frames on an HTTP/2 connection before it is closed; above 0. The default of Node.js is 1,000. */
  readonly maxInvalidFrames: number;
  /** The most streams beyond the limits above on an HTTP/2 connection before it is closed; above 0. */
  readonly maxRejectedStreams: number;
  /** For an HTTP/2 connection without an open stream; then it is closed. Node.js has no such limit. */
  readonly idleSessionTimeoutMs: number;
  /** How long an HTTP/2 client may be silent before the server sends a PING. 0 sends none. */
  readonly pingIntervalMs: number;
  /**
   * How long the server waits for the answer to a PING before it closes the connection and its streams; also how long it waits
   * for a client to close its side of an ended connection.
   */
  readonly pingTimeoutMs: number;
  /** How often the time limits are checked; above 0. */
  readonly sweepIntervalMs: number;
  /**
   * The first phase of a drain: health is OUT_OF_SERVICE, and everything is still answered. Should be as long as a load
   * balancer needs to notice. Default 0: no such phase.
   */
  readonly drainDelayMs: number;
  /**
   * In a drain, after the delay: how long idle HTTP/1.1 connections stay open, for requests that are just arriving. 0 closes
   * them at once.
   */
  readonly drainGraceMs: number;
  /**
   * In a drain, after the delay: how long answers in progress may take, `drainGraceMs` included. 0 ends them at once. Shorter
   * than the 30 s that container platforms wait after SIGTERM.
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
