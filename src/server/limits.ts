/** What a listener puts up with. Times are milliseconds; each may be late by `sweepIntervalMs`. */
export interface Limits {
  /** Sockets at a time, of either protocol. A management port has few clients. Further ones are closed at once. */
  readonly maxConnections: number;
  /** From the connection to the bytes that tell HTTP/1.1 from HTTP/2. Browsers open connections ahead of need. */
  readonly protocolTimeoutMs: number;
  /** From the first byte of an HTTP/1.1 request to the end of its headers; ends in 408. */
  readonly headersTimeoutMs: number;
  /** For a whole request, body included; ends in 408, over HTTP/2 in a reset stream. Bodies are below 64 KiB here. */
  readonly requestTimeoutMs: number;
  /** Between two HTTP/1.1 requests. Above the 60 s of common proxies, so that it is the proxy who closes. */
  readonly keepAliveTimeoutMs: number;
  /** Without any progress of an answer that its client does not read. An answer that waits for news is not stalled. */
  readonly stalledWriteTimeoutMs: number;
  /** Request line and headers, over either protocol. Node's own default, said here so that it stays. */
  readonly maxHeaderBytes: number;
  /** HTTP/1.1 requests on one connection; 0 is no limit. A limit would only cost honest pollers reconnects. */
  readonly maxRequestsPerConnection: number;
  /** Open streams of one HTTP/2 connection. RFC 9113 section 6.5.2 advises no less than 100; Node announces none. */
  readonly maxConcurrentStreams: number;
  /** What one HTTP/2 connection may hold in megabytes before new streams are refused. */
  readonly maxSessionMemoryMb: number;
  /** Invalid frames after which an HTTP/2 connection ends. Node's default is 1,000. */
  readonly maxInvalidFrames: number;
  /** Streams over the limits above after which an HTTP/2 connection ends. */
  readonly maxRejectedStreams: number;
  /** An HTTP/2 connection without an open stream. Node has no such limit. */
  readonly idleSessionTimeoutMs: number;
  /** Silence of an HTTP/2 peer after which it is asked for a sign of life. */
  readonly pingIntervalMs: number;
  /** For that sign; then the peer is dead and its streams end. Also for a peer to close its side of an ended connection. */
  readonly pingTimeoutMs: number;
  /** How often the limits on time are looked after. */
  readonly sweepIntervalMs: number;
  /** In a drain: before idle HTTP/1.1 connections close, for requests that are just arriving on them. */
  readonly drainGraceMs: number;
  /** In a drain: for answers under way. Below the 30 s that container platforms wait after SIGTERM. */
  readonly drainDeadlineMs: number;
}

/** The limits in force unless an application says otherwise. */
export const DEFAULT_LIMITS: Limits = {
  maxConnections: 1_000,
  protocolTimeoutMs: 10_000,
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
  drainGraceMs: 100,
  drainDeadlineMs: 10_000,
};

/** The default limits with these in place of single ones; undefined stands for the default. */
export function limitsWith(overrides: { readonly [Name in keyof Limits]?: Limits[Name] | undefined } = {}): Limits {
  return {
    ...DEFAULT_LIMITS,
    ...Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined)),
  };
}
