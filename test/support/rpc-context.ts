import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { HandlerContext } from "@connectrpc/connect";
import { PERMISSIONS } from "../../src/access/permission.ts";
import { callValues } from "../../src/http/rpc/calls/call-context.ts";
import { OPEN_GATE } from "./open-gate.ts";

/** The context of a call whose caller has every permission. */
export function anybody(): HandlerContext {
  const request = new IncomingMessage(new Socket());
  const context = OPEN_GATE.begin(request, new ServerResponse(request), "grpc");
  OPEN_GATE.admit(context, PERMISSIONS);
  return { values: callValues(context), requestHeader: new Headers() } as HandlerContext;
}
