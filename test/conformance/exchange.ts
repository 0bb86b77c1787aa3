import type { DescService, Registry } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { type CallOptions, CallRouter } from "../../src/http/rpc/call-router.ts";
import { OpenStreams } from "../../src/http/rpc/open-streams.ts";
import { requestGate } from "../../src/http/rpc/request-gate.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";
import { OPEN_GATE } from "../support/open-gate.ts";

/** A listener that answers a service as `createRpcHandler` has its own ones answered. */
export function serveService(
  { service, methods }: { service: DescService; methods: Partial<ServiceImpl<never>> },
  registry: Registry,
  readMaxBytes: number,
): Listener {
  const onError = (error: unknown, context: string) => console.error(`${context}:`, error);
  const options: CallOptions = {
    gate: OPEN_GATE,
    // The suite's methods are in no table of permissions.
    requestGate: requestGate(OPEN_GATE, onError, () => []),
    streams: new OpenStreams(),
    onError,
    readMaxBytes,
    writeMaxBytes: 32 * 1024 * 1024,
  };
  const router = new CallRouter(options);
  router.service(service, methods, { jsonOptions: { registry } });
  const { message, stream } = router.answering();
  return createListener((req, res) => message(req, res, req.url ?? ""), {
    streamHandler: (it, headers, rawHeaders) => stream(it, headers, rawHeaders, String(headers[":path"])),
  });
}
