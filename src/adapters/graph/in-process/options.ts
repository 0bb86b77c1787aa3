import { ActuatorError } from "../../../common/error.ts";
import { checkedName } from "../../../integration-graph/declaration.ts";
import type { WatchingAdapter } from "../../kit/messaging/watching-adapter.ts";

/** Feeds the graph with what passes through objects of the application itself. */
export type InProcessAdapter<T> = WatchingAdapter<T>;

/** Options of the sources of in-process messages. */
export interface InProcessOptions {
  /** The first part of the names of the nodes. Objects that are watched under one name are one. */
  readonly name: string;
}

/** Options for error messages. */
export const EXAMPLE = '{ name: "orders" }';

/** @throws ActuatorError INVALID_ARGUMENT if the options of `source` have no valid name. */
export function nameIn(options: InProcessOptions | undefined, source: string): string {
  try {
    return checkedName(options?.name);
  } catch (cause) {
    const message = `${source}.name must be the first part of the nodes' names, such as { name: "orders" }`;
    throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, {}, { cause });
  }
}
