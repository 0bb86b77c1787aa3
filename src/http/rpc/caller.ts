import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { Caller } from "../../access/caller.ts";
import type { RequestContext } from "../gate/request-context.ts";

const requestContextKey = createContextKey<RequestContext | undefined>(undefined, {
  description: "the request on its way",
});

/** What a call carries of its request. */
export function callValues(context: RequestContext): ContextValues {
  return createContextValues().set(requestContextKey, context);
}

/** The request of a call. */
export function requestContextOf(values: ContextValues): RequestContext {
  const context = values.get(requestContextKey);
  if (context === undefined) throw new TypeError("the call did not come through the gate");
  return context;
}

/** Who calls, in a method that needs a permission. */
export function callerOf(values: ContextValues): Caller {
  const { caller } = requestContextOf(values);
  if (caller === undefined) throw new TypeError("nobody was asked who calls");
  return caller;
}
