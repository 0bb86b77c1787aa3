import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  ExportTraceServiceResponseSchema,
  type TraceService,
} from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { OtlpReceiver } from "../otlp/receiver.ts";
import type { RequestGate } from "./request-gate.ts";

/** `opentelemetry.proto.collector.trace.v1.TraceService` over a receiver of OTLP. */
export function traceService(receiver: OtlpReceiver): ServiceImpl<typeof TraceService> {
  return {
    export(request) {
      const { rejectedSpans, errorMessage } = receiver.take(request);
      if (rejectedSpans === 0) return create(ExportTraceServiceResponseSchema);
      return { partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } };
    },
  };
}

/** How its requests are read: larger than those of all other services, and without what is not declared here. */
export function traceServiceOptions(receiver: OtlpReceiver, gate: RequestGate) {
  return {
    readMaxBytes: receiver.settings.maxRequestBytes,
    binaryOptions: { readUnknownFields: false },
    async requestGate(context: HandlerContext): Promise<void> {
      await gate(context);
      // The code after which exporters try again.
      const refusal = (message: string) => new ConnectError(message, Code.Unavailable);
      if (!receiver.isOpen) throw refusal("More spans come than are taken (option otlp.maxSpansPerSecond).");
      const leave = receiver.reading.enter();
      if (leave === undefined) throw refusal("Too many requests at a time.");
      // Aborted when the call is over as well, however it ends.
      if (context.signal.aborted) leave();
      else context.signal.addEventListener("abort", leave, { once: true });
    },
  };
}
