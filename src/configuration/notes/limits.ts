import { DEFAULT_LIMITS, type Limits } from "../../server/limits.ts";
import type { Notes } from "../setting.ts";

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  maxConnections: "Sockets at a time.",
  maxConnectionsPerAddress: "Sockets at a time of one client.",
  protocolTimeoutMs: "From the connection to the bytes that tell HTTP/1.1 from HTTP/2.",
  handshakeTimeoutMs: "For a TLS handshake.",
  headersTimeoutMs: "From the first byte of an HTTP/1.1 request to the end of its headers.",
  requestTimeoutMs: "For a whole request.",
  keepAliveTimeoutMs: "Between two HTTP/1.1 requests.",
  stalledWriteTimeoutMs: "Without any progress of an answer that its client does not read.",
  maxHeaderBytes: "Request line and headers.",
  maxRequestsPerConnection: "HTTP/1.1 requests on one connection; 0 is no limit.",
  maxConcurrentStreams: "Open streams of one HTTP/2 connection.",
  maxSessionMemoryMb: "Megabytes that one HTTP/2 connection may hold.",
  maxInvalidFrames: "Invalid frames after which an HTTP/2 connection ends.",
  maxRejectedStreams: "Refused streams after which an HTTP/2 connection ends.",
  idleSessionTimeoutMs: "An HTTP/2 connection without an open stream.",
  pingIntervalMs: "Silence of an HTTP/2 peer after which it is asked for a sign of life.",
  pingTimeoutMs: "For that sign.",
  sweepIntervalMs: "How often the limits on time are looked after.",
  drainDelayMs: "In a drain: while health already says OUT_OF_SERVICE and everything is still answered.",
  drainGraceMs: "In a drain: before idle HTTP/1.1 connections close.",
  drainDeadlineMs: "In a drain, after the delay: for answers under way.",
};

/** What is said of the limits; what they are by default stands beside them. */
export const LIMITS_NOTES = Object.fromEntries(
  Object.entries(DEFAULT_LIMITS).map(([name, value]) => [
    name,
    { description: DESCRIPTIONS[name] ?? "", default: value },
  ]),
) as Notes<Limits>;
