import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";

type Request = IncomingMessage | Http2ServerRequest;

const requestKey = createContextKey<Request | undefined>(undefined, { description: "the request of the call" });

/** What a call carries of its request. */
export function callValues(request: Request): ContextValues {
  return createContextValues().set(requestKey, request);
}

/** Where a call came from: nobody says who they are yet, and the address is all that is known of them. */
export function callerOf(values: ContextValues): string | undefined {
  return values.get(requestKey)?.socket.remoteAddress;
}
