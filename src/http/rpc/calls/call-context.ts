import { type ContextValues, createContextKey, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { Caller } from "../../../access/caller.ts";
import type { RequestContext } from "../../gate/request-context.ts";

const requestContextKey = createContextKey<RequestContext | undefined>(undefined, { description: "request context" });

/** The context values of a call. */
export function callValues(context: RequestContext): ContextValues {
  return createContextValues().set(requestContextKey, context);
}

/** The context of a call's request. */
export function requestContextOf(values: ContextValues): RequestContext {
  const context = values.get(requestContextKey);
  if (context === undefined) throw new Error("the call did not pass the gate");
  return context;
}

/** The caller, in a method that needs a permission. */
export function callerOf(values: ContextValues): Caller {
  const { caller } = requestContextOf(values);
  if (caller === undefined) throw new Error("the method needs no permission, so its caller is unknown");
  return caller;
}

/** What the caller may see of the loggers; of a call without a context, as the application makes it, everything. */
export function reachOf(context: Pick<HandlerContext, "values"> | undefined): Caller["loggers"] {
  return context && callerOf(context.values).loggers;
}

const signalKey = createContextKey<AbortSignal | undefined>(undefined, { description: "signal of an admitted call" });

/** Notes that the request gate admitted a call, whose signal tells how it ends if it does not reach its method. */
export function markAdmitted(values: ContextValues, signal: AbortSignal): void {
  values.set(signalKey, signal);
}

/** The signal of a call that the request gate admitted; undefined for any other. */
export function admittedSignal(values: ContextValues | undefined): AbortSignal | undefined {
  return values?.get(signalKey);
}
