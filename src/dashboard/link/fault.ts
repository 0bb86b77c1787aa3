import { Code, ConnectError } from "@connectrpc/connect";
import type { StreamEnd } from "../../gen/actuator/v3/streams_pb.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import type { Fault } from "./messages.ts";

/** An error of a call, as it passes to a tab. */
export function faultOf(error: unknown): Fault {
  const failure = ConnectError.from(error, Code.Unavailable);
  const [info] = failure.findDetails(ErrorInfoSchema);
  const { reason = "", metadata = {} } = info ?? {};
  return { code: nameOf(failure.code), reason, message: failure.rawMessage, metadata };
}

/** The end of a carried stream; undefined if it ended by itself. */
export function faultOfEnd({ code, reason, message, metadata }: StreamEnd): Fault | undefined {
  return code === 0 ? undefined : { code: nameOf(code), reason, message, metadata };
}

/** `PermissionDenied` is `PERMISSION_DENIED` in gRPC's terms. */
function nameOf(code: number): string {
  return (Code[code] ?? "Unknown").replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
}
