/** What a listener puts up with. Times are milliseconds, sizes bytes unless the name says otherwise. */
export interface Limits {
  readonly maxConnections: number;
  readonly protocolTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly stalledWriteTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly maxRequestsPerConnection: number;
  readonly maxConcurrentStreams: number;
  readonly maxSessionMemoryMb: number;
  readonly maxInvalidFrames: number;
  readonly maxRejectedStreams: number;
  readonly idleSessionTimeoutMs: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly sweepIntervalMs: number;
  readonly drainGraceMs: number;
  readonly drainDeadlineMs: number;
}

/** The limits in force unless an application says otherwise, each with its reason. */
export const DEFAULT_LIMITS: Limits = {
  /** Sockets at a time. A management port has few clients; an idle HTTP/1.1 connection costs about 10 KB. */
  maxConnections: 1_000,
  /** From the connection to the bytes that tell HTTP/1.1 from HTTP/2. Browsers open connections ahead of need. */
  protocolTimeoutMs: 10_000,
  /** From the first byte of an HTTP/1.1 request to the end of its headers; ends in 408. */
  headersTimeoutMs: 10_000,
  /** For a whole request, body included; ends in 408, over HTTP/2 in a reset stream. Bodies are below 64 KiB here. */
  requestTimeoutMs: 30_000,
  /** Between two HTTP/1.1 requests. Above the 60 s of common proxies, so that it is the proxy who closes. */
  keepAliveTimeoutMs: 65_000,
  /** Without any progress of an answer that its client does not read. An answer that waits for news is not stalled. */
  stalledWriteTimeoutMs: 60_000,
  /** Request line and headers, over either protocol. Node's own default, said here so that it stays. */
  maxHeaderBytes: 16_384,
  /** HTTP/1.1 requests on one connection; 0 is no limit. A limit would only cost honest pollers reconnects. */
  maxRequestsPerConnection: 0,
  /** Open streams of one HTTP/2 connection. RFC 9113 section 6.5.2 advises no less than 100; Node announces none. */
  maxConcurrentStreams: 100,
  /** What one HTTP/2 connection may hold in megabytes before new streams are refused. */
  maxSessionMemoryMb: 10,
  /** Invalid frames after which an HTTP/2 connection ends. Node's default is 1,000. */
  maxInvalidFrames: 100,
  /** Streams over the limits above after which an HTTP/2 connection ends. */
  maxRejectedStreams: 100,
  /** An HTTP/2 connection without an open stream. Node has no such limit. */
  idleSessionTimeoutMs: 60_000,
  /** Silence of an HTTP/2 peer after which it is asked for a sign of life. */
  pingIntervalMs: 20_000,
  /** For that sign; then the peer is dead and its streams end. */
  pingTimeoutMs: 10_000,
  /** How often the limits on time are looked after; each may be late by this much. */
  sweepIntervalMs: 1_000,
  /** In a drain: before idle HTTP/1.1 connections close, for requests that are just arriving on them. */
  drainGraceMs: 100,
  /** In a drain: for answers under way. Below the 30 s that container platforms wait after SIGTERM. */
  drainDeadlineMs: 10_000,
};
