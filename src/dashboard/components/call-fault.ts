import { CallError } from "../link/link.ts";
import type { Fault } from "../link/messages.ts";

/** Why a call failed, whatever was thrown. */
export function faultOf(error: unknown): Fault {
  if (error instanceof CallError) return error.fault;
  return { code: "UNKNOWN", reason: "", message: String(error), metadata: {} };
}
