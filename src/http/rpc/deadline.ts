import type { IncomingHttpHeaders } from "node:http";
import { LONGEST_TIMER_MS } from "../../common/timeout.ts";

const GRPC_TIMEOUT = "grpc-timeout";
const CONNECT_TIMEOUT = "connect-timeout-ms";
const MILLISECONDS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Whether the caller set a deadline. */
export function hasDeadline(header: Headers): boolean {
  return header.has(GRPC_TIMEOUT) || header.has(CONNECT_TIMEOUT);
}

/** Shortens a deadline that is longer than a timer can be. connect would pass it to `setTimeout`, which would fire at once. */
export function capDeadline(headers: IncomingHttpHeaders): void {
  const grpc = headers[GRPC_TIMEOUT];
  if (grpc !== undefined && grpcTimeoutMs(String(grpc)) > LONGEST_TIMER_MS) {
    headers[GRPC_TIMEOUT] = `${Math.floor(LONGEST_TIMER_MS / 1000)}S`;
  }
  const connect = headers[CONNECT_TIMEOUT];
  if (connect !== undefined && connectTimeoutMs(String(connect)) > LONGEST_TIMER_MS) {
    headers[CONNECT_TIMEOUT] = String(LONGEST_TIMER_MS);
  }
}

// NaN for a malformed header, which connect then refuses.
function grpcTimeoutMs(text: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return Number(digits) * MILLISECONDS[unit ?? ""]!;
}

function connectTimeoutMs(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}
