import { ConnectError, type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { CallCode } from "../../operations/calls/call-record.ts";
import { callCodeOf } from "./error.ts";

const signalKey = createContextKey<AbortSignal | undefined>(undefined, { description: "how the call ends" });

/** Keeps what tells how a call ends that does not reach its method. */
export function keepSignal({ values, signal }: HandlerContext): void {
  values.set(signalKey, signal);
}

/**
 * How a call ended that did not reach its method. Connect answered by itself: the message was too large, malformed, compressed in
 * an unknown way, late or incomplete. What was no call at all, by its content type or HTTP method, is INVALID_ARGUMENT.
 */
export function earlyEnd(values: ContextValues | undefined): CallCode {
  const signal = values?.get(signalKey);
  if (!signal?.aborted) return "INVALID_ARGUMENT";
  // Connect aborts the signal with whatever it answers, in every protocol, and says INTERNAL for what is not its own.
  return signal.reason instanceof ConnectError ? callCodeOf(signal.reason) : "INTERNAL";
}
