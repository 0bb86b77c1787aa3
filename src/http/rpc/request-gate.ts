import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { isWrite, type Permission } from "../../access/permission.ts";
import { ActuatorError } from "../../common/error.ts";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { Gate } from "../gate/gate.ts";
import { requestContextOf } from "./caller.ts";
import { keepSignal } from "./early-end.ts";
import { anyErrorToRpc, callCodeOf } from "./error.ts";
import { checkGetRequest } from "./get-request.ts";
import { permissionsFor } from "./permissions.ts";

/** What connect calls before it reads the body of a request. */
export type RequestGate = (call: HandlerContext) => Promise<void>;

/**
 * Lets a call in, or refuses it before its message is read: what the gate says of the request and of who makes it, and for a
 * GET, whether its message can be read at all.
 */
export function requestGate(
  gate: Gate,
  onError: (error: unknown, context: string) => void,
  permissionsOf: (method: DescMethod) => readonly Permission[] = permissionsFor,
): RequestGate {
  return async (call) => {
    const context = requestContextOf(call.values);
    const { method } = call;
    try {
      gate.enter(context);
      const permissions = permissionsOf(method);
      // Spans that a service sends are no change that an operator makes.
      if (gate.readOnly && permissions.some(isWrite) && method.parent !== TraceService) throw readOnly();
      if (permissions.length > 0) await gate.admit(context, permissions);
      checkGetRequest(call);
      keepSignal(call);
    } catch (error) {
      context.failed(error);
      const refusal = anyErrorToRpc(error, (accident) => onError(accident, `rpc ${context.operation}`));
      const code = callCodeOf(refusal);
      if (code === "UNAUTHENTICATED" && gate.challenge !== undefined) {
        refusal.metadata.set("www-authenticate", gate.challenge);
      }
      context.end(code);
      throw refusal;
    }
  };
}

function readOnly(): ActuatorError {
  const message = "This actuator is read-only: nothing can be changed through it.";
  return new ActuatorError("PERMISSION_DENIED", "READ_ONLY", message);
}
