import type { DescService, Registry } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Gate } from "../../src/http/gate/gate.ts";
import { CallRouter } from "../../src/http/rpc/call-router.ts";
import type { CallOptions } from "../../src/http/rpc/calls/call-options.ts";
import { OpenStreams } from "../../src/http/rpc/calls/open-streams.ts";
import { requestGate } from "../../src/http/rpc/calls/request-gate.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";
import { OPEN_GATE } from "../support/open-gate.ts";

/** A listener that answers a service as `createRpcHandler` has its own ones answered. */
export function serveService(
  { service, methods }: { service: DescService; methods: Partial<ServiceImpl<never>> },
  registry: Registry,
  readMaxBytes: number,
  gate: Gate = OPEN_GATE,
): Listener {
  const onError = (error: unknown, context: string) => console.error(`${context}:`, error);
  const options: CallOptions = {
    gate,
    // The suite's methods are in no table of permissions.
    requestGate: requestGate(gate, onError, () => []),
    streams: new OpenStreams(),
    onError,
    readMaxBytes,
    writeMaxBytes: 32 * 1024 * 1024,
  };
  const router = new CallRouter(options);
  router.service(service, methods, { jsonOptions: { registry } });
  return createListener((req, res) => router.answer(req, res, req.url ?? ""), {
    streamHandler: (stream, headers, rawHeaders) =>
      router.answerStream(stream, headers, rawHeaders, String(headers[":path"])),
  });
}
