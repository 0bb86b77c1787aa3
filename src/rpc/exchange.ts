import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Answers one request with a handler of connect. It is connect-node's own adapter from the same parts, guarded: a bad Host
 * ends in 400 and not in the process, failures reach `onError` and not the console, and a request that was refused in the
 * middle of its body still gets to hear why.
 */
export function exchange(
  handler: UniversalHandler,
  req: Request,
  res: Response,
  url: string,
  onError: (error: unknown, context: string) => void,
): void {
  let request: UniversalServerRequest;
  try {
    request = universalRequest(req, res, url);
  } catch {
    // A Host or :authority that is no authority, none at all, or a header that the Fetch API does not take.
    res.statusCode = 400;
    res.setHeader("content-type", "text/plain; charset=utf-8");
    res.end("The request has no valid Host, or a header that is not valid.\n");
    return;
  }
  handler(request)
    .then((response) => universalResponseToNodeResponse(response, res))
    .catch((error: unknown) => {
      if (isGone(res)) return;
      onError(error, `rpc ${handler.service.typeName}/${handler.method.name}`);
      if (res.headersSent) res.destroy();
      else {
        res.statusCode = 500;
        res.end();
      }
    });
}

function universalRequest(req: Request, res: Response, url: string): UniversalServerRequest {
  const { body, url: mountedUrl } = req as { readonly body?: UniversalServerRequest["body"]; readonly url?: string };
  req.url = url;
  try {
    // A framework's body parser was here before us: what it read cannot be read again.
    if (req.readableEnded && body !== undefined)
      return universalRequestFromNodeRequest(req, res, body as never, undefined);
    const request = universalRequestFromNodeRequest(req, res, undefined, undefined);
    // connect's iterator destroys the request when it stops early, and with it the way to drain the rest.
    return { ...request, body: req.iterator({ destroyOnReturn: false }) };
  } finally {
    if (mountedUrl !== undefined) req.url = mountedUrl;
  }
}

/** Whether the client went away, so that a failure to answer is no news. */
function isGone(res: Response): boolean {
  return "stream" in res ? res.stream.destroyed : res.socket === null || res.socket.destroyed;
}
