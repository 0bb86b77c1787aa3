import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  ExportTraceServiceResponseSchema,
  type TraceService,
} from "../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts";
import type { OtlpReceiver } from "../otlp/receiver.ts";
import { checkGetRequest } from "./get-request.ts";

/** `opentelemetry.proto.collector.trace.v1.TraceService` over a receiver of OTLP. */
export function traceService(receiver: OtlpReceiver): ServiceImpl<typeof TraceService> {
  return {
    export(request) {
      if (!receiver.isOpen) throw tooMany();
      const { rejectedSpans, errorMessage } = receiver.take(request);
      if (rejectedSpans === 0) return create(ExportTraceServiceResponseSchema);
      return { partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } };
    },
  };
}

/** How its requests are read: they are larger than those of all other services, and skip what is not declared here. */
export function traceServiceOptions(receiver: OtlpReceiver) {
  return {
    readMaxBytes: receiver.settings.maxRequestBytes,
    binaryOptions: { readUnknownFields: false },
    requestGate(context: HandlerContext): void {
      checkGetRequest(context);
      if (!receiver.isOpen) throw tooMany();
    },
  };
}

/** The code after which exporters try again. */
function tooMany(): ConnectError {
  return new ConnectError("More spans come than are taken (option otlp.maxSpansPerSecond).", Code.Unavailable);
}
