import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, createContextKey } from "@connectrpc/connect";
import { LONGEST_TIMER_MS } from "../../../common/timeout.ts";
import type { CallProtocol } from "../../../operations/calls/call-record.ts";

const MILLISECONDS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The caller's deadline, in milliseconds after the call began; undefined without one. connect does not know it. */
export const timeout = createContextKey<number | undefined>(undefined, {
  description: "milliseconds until the deadline",
});

/**
 * Takes the caller's deadline out of the headers, in milliseconds from now. connect's own timer would keep the process alive, and fire
 * at once for a time that is too long for a timer. A malformed header stays, and connect refuses it.
 */
export function takeDeadline(headers: IncomingHttpHeaders, protocol: CallProtocol): number | undefined {
  const timeoutMs = timeoutOf(headers, protocol);
  if (timeoutMs === undefined || Number.isNaN(timeoutMs)) return undefined;
  delete headers[headerOf(protocol)];
  return timeoutMs;
}

/** The caller's deadline in milliseconds from now; undefined without one, NaN if it is malformed. */
export function timeoutOf(headers: IncomingHttpHeaders, protocol: CallProtocol): number | undefined {
  const text = headers[headerOf(protocol)];
  if (text === undefined) return undefined;
  return protocol === "connect" ? connectTimeoutMs(String(text)) : grpcTimeoutMs(String(text));
}

function headerOf(protocol: CallProtocol): string {
  return protocol === "connect" ? "connect-timeout-ms" : "grpc-timeout";
}

/** Calls `listener` with the error of a call that takes too long, at its deadline. Returns a function that stops the time. */
export function atDeadline(timeoutMs: number, listener: (late: ConnectError) => void): () => void {
  const end = () => listener(new ConnectError("the operation timed out", Code.DeadlineExceeded));
  if (timeoutMs <= 0) {
    end();
    return () => {};
  }
  const timer = setTimeout(end, Math.min(timeoutMs, LONGEST_TIMER_MS)).unref();
  return () => clearTimeout(timer);
}

function grpcTimeoutMs(text: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return Number(digits) * MILLISECONDS[unit ?? ""]!;
}

function connectTimeoutMs(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}
