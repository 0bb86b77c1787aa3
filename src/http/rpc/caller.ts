import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { Caller } from "../../access/caller.ts";
import type { Visit } from "../gate/visit.ts";

const visitKey = createContextKey<Visit | undefined>(undefined, { description: "the request on its way" });

/** What a call carries of its request. */
export function callValues(visit: Visit): ContextValues {
  return createContextValues().set(visitKey, visit);
}

/** The request of a call. */
export function visitOf(values: ContextValues): Visit {
  const visit = values.get(visitKey);
  if (visit === undefined) throw new TypeError("the call did not come through the gate");
  return visit;
}

/** Who calls, in a method that needs a permission. */
export function callerOf(values: ContextValues): Caller {
  const { caller } = visitOf(values);
  if (caller === undefined) throw new TypeError("nobody was asked who calls");
  return caller;
}
