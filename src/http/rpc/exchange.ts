import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import type { RequestContext } from "../gate/request-context.ts";
import { earlyEnd } from "./early-end.ts";
import { isGone, universalRequest } from "./universal-request.ts";

/**
 * Answers one request with a handler of connect. It is what connect-node's own adapter does, guarded: a bad Host ends in
 * 400 and not in the process, and failures reach `onError` and not the console.
 */
export function exchange(
  handler: UniversalHandler,
  req: GateRequest,
  res: GateResponse,
  url: string,
  context: RequestContext,
  onError: (error: unknown, context: string) => void,
): void {
  let request: UniversalServerRequest;
  try {
    request = universalRequest(req, res, url, context);
  } catch {
    context.end("INVALID_ARGUMENT");
    // A Host or :authority that is no authority, none at all, or a header that the Fetch API does not take.
    res.statusCode = 400;
    res.setHeader("content-type", "text/plain; charset=utf-8");
    res.end("The request has no valid Host, or a header that is not valid.\n");
    return;
  }
  handler(request)
    .then((response) => {
      if (!context.entered) context.end(earlyEnd(request.contextValues));
      // Connect leaves out what RFC 9110 section 15.5.6 asks for.
      if (response.status === 405) res.setHeader("allow", handler.allowedMethods.join(", "));
      // A proxy such as nginx, which passes on all but gRPC as it does pages, would keep a watch until it had some kilobytes of it.
      if (handler.method.methodKind !== "unary" && context.protocol !== "grpc")
        res.setHeader("x-accel-buffering", "no");
      return universalResponseToNodeResponse(response, res);
    })
    .catch((error: unknown) => {
      context.end(isGone(req) ? "CANCELLED" : "INTERNAL");
      // Aborted is what connect-node makes of a write that came after the client's end.
      if (isGone(req) || ConnectError.from(error).code === Code.Aborted) return;
      onError(error, `rpc ${handler.service.typeName}/${handler.method.name}`);
      if (res.headersSent) res.destroy();
      else {
        res.statusCode = 500;
        res.end();
      }
    });
}
