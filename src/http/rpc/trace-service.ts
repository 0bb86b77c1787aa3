import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  ExportTraceServiceResponseSchema,
  type TraceService,
} from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { OtlpReceiver } from "../otlp/receiver.ts";
import type { RequestGate } from "./calls/request-gate.ts";

/** Implements `opentelemetry.proto.collector.trace.v1.TraceService` with a receiver of OTLP. */
export function traceService(receiver: OtlpReceiver): ServiceImpl<typeof TraceService> {
  return {
    export(request) {
      const { rejectedSpans, errorMessage } = receiver.take(request);
      if (rejectedSpans === 0) return create(ExportTraceServiceResponseSchema);
      return { partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } };
    },
  };
}

/** Makes its options: larger requests than those of other services, and no unknown fields. */
export function traceServiceOptions(receiver: OtlpReceiver, gate: RequestGate) {
  return {
    readMaxBytes: receiver.settings.maxRequestBytes,
    binaryOptions: { readUnknownFields: false },
    requestGate(context: HandlerContext): void | Promise<void> {
      const admitted = gate(context);
      return admitted === undefined ? enter(context) : admitted.then(() => enter(context));
    },
  };

  function enter({ signal }: HandlerContext): void {
    // Exporters retry after this code.
    const refusal = (message: string) => new ConnectError(message, Code.Unavailable);
    if (!receiver.isOpen) throw refusal("Too many spans per second (option otlp.maxSpansPerSecond).");
    const leave = receiver.reading.enter();
    if (leave === undefined) throw refusal("Too many concurrent requests.");
    // The signal is also aborted when the call ends.
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }
}
