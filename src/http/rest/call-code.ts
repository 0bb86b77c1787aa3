import type { CallCode } from "../../operations/calls/call-record.ts";

/** Statuses that say more than their class. */
const CODES: Readonly<Record<number, CallCode>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  507: "RESOURCE_EXHAUSTED",
};

/** How an answer of this status is recorded in the call log, which has the codes of gRPC. */
export function callCodeOf(status: number): CallCode {
  if (status < 400) return "OK";
  return CODES[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}
