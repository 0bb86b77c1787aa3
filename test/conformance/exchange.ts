import type { DescService, Registry } from "@bufbuild/protobuf";
import { createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import { OPEN_GATE } from "../../src/gate/open-gate.ts";
import { visitOf } from "../../src/rpc/caller.ts";
import { compressOnce } from "../../src/rpc/compress-once.ts";
import { capDeadline } from "../../src/rpc/deadline.ts";
import { exchange } from "../../src/rpc/exchange.ts";
import { checkGetRequest } from "../../src/rpc/get-request.ts";
import { gzip } from "../../src/rpc/gzip.ts";
import { rpcInterceptor } from "../../src/rpc/interceptor.ts";
import { OpenStreams } from "../../src/rpc/open-streams.ts";
import { protocolOf } from "../../src/rpc/protocol.ts";
import { discardRest } from "../../src/rpc/request-rest.ts";
import { answerUnknownMethod } from "../../src/rpc/unimplemented.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";

/** A listener that answers a service as `createRpcHandler` has its own ones answered. */
export function serveService(
  { service, methods }: { service: DescService; methods: Partial<ServiceImpl<never>> },
  registry: Registry,
  readMaxBytes: number,
): Listener {
  const onError = (error: unknown, context: string) => console.error(`${context}:`, error);
  const router = createConnectRouter({
    readMaxBytes,
    writeMaxBytes: 32 * 1024 * 1024,
    acceptCompression: [compressOnce(gzip)],
    requestGate: async (context) => {
      OPEN_GATE.enter(visitOf(context.values));
      checkGetRequest(context);
    },
    interceptors: [rpcInterceptor(new OpenStreams(), onError)],
    jsonOptions: { registry },
  });
  router.service(service, methods);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return createListener((req, res) => {
    const url = req.url ?? "";
    discardRest(req, res);
    capDeadline(req.headers);
    const handler = handlers.get(url.split("?", 1)[0]!);
    const visit = OPEN_GATE.visit(req, res, protocolOf(req.headers["content-type"]));
    if (handler === undefined) answerUnknownMethod(req, res);
    else exchange(handler, req, res, url, visit, onError);
  });
}
