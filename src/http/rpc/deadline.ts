import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, createContextKey } from "@connectrpc/connect";
import { LONGEST_TIMER_MS } from "../../common/timeout.ts";
import type { CallProtocol } from "../../operations/calls/call-record.ts";

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
  const [header, millisecondsOf] =
    protocol === "connect"
      ? (["connect-timeout-ms", connectTimeoutMs] as const)
      : (["grpc-timeout", grpcTimeoutMs] as const);
  const text = headers[header];
  if (text === undefined) return undefined;
  const timeoutMs = millisecondsOf(String(text));
  if (Number.isNaN(timeoutMs)) return undefined;
  delete headers[header];
  return timeoutMs;
}

/** Aborts a call at its deadline. Returns a function that stops the time. */
export function abortAtDeadline(controller: AbortController, timeoutMs: number): () => void {
  const abort = () => controller.abort(new ConnectError("the operation timed out", Code.DeadlineExceeded));
  if (timeoutMs <= 0) abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, LONGEST_TIMER_MS)).unref();
  return () => clearTimeout(timer);
}

function grpcTimeoutMs(text: string): number {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return Number(digits) * MILLISECONDS[unit ?? ""]!;
}

function connectTimeoutMs(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}
