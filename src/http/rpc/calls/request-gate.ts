import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { isWrite, type Permission } from "../../../access/permission.ts";
import { TraceService } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import { changesRefused, type Gate } from "../../gate/gate.ts";
import { markAdmitted, requestContextOf } from "./call-context.ts";
import { anyErrorToRpc, blameUndecodable, callCodeOf } from "./error.ts";
import { permissionsFor } from "./permissions.ts";

/** Called before the body of a request is read. Throws, or rejects, with the error of a call that it refuses. */
export type RequestGate = (call: HandlerContext) => void | Promise<void>;

/** Makes the request gate, which admits a call or refuses it before its message is read. */
export function requestGate(
  gate: Gate,
  onError: (error: unknown, context: string) => void,
  permissionsOf: (method: DescMethod) => readonly Permission[] = permissionsFor,
): RequestGate {
  return ({ method, values }) => {
    const context = requestContextOf(values);
    const refuse = (error: unknown): never => {
      context.failed(error);
      const refusal = anyErrorToRpc(error, (unexpected) => onError(unexpected, `rpc ${context.operation}`));
      const code = callCodeOf(refusal);
      if (code === "UNAUTHENTICATED" && gate.challenge !== undefined) {
        refusal.metadata.set("www-authenticate", gate.challenge);
      }
      context.end(code);
      throw refusal;
    };
    try {
      const permissions = permissionsOf(method);
      gate.enter(context, permissions.length === 0);
      if (permissions.length === 0) return undefined;
      // A method that some may call to read is no change, nor are spans of other services.
      if (gate.readOnly && permissions.every(isWrite) && method.parent !== TraceService) throw changesRefused();
      const admitted = gate.admit(context, permissions);
      return admitted instanceof Promise ? admitted.then(() => {}, refuse) : undefined;
    } catch (error) {
      return refuse(error);
    }
  };
}

/** The same as connect calls it. It notes what connect's own answers depend on. */
export function gateOfConnect(gate: RequestGate): (call: HandlerContext) => Promise<void> {
  return async (call) => {
    await gate(call);
    const { values, signal } = call;
    markAdmitted(values, signal);
    // connect aborts the signal with an error before it writes the answer.
    signal.addEventListener("abort", () => blameUndecodable(signal.reason), { once: true });
  };
}
