import type { GraphHost } from "../../../integration-graph/adapter.ts";
import type { GraphLink, GraphNode } from "../../../integration-graph/node.ts";
import { isPlainPromise, settling } from "../../kit/interception/plain-promise.ts";

/** Calls a listener with a message. It fails where it throws, or rejects; either goes on as before. */
export function handled(
  host: GraphHost,
  { node, input }: { readonly node: GraphNode; readonly input: GraphLink | undefined },
  run: () => unknown,
): unknown {
  const start = performance.now();
  const ended = (failed: boolean) => host.handled(node, { start, end: performance.now(), failed }, input);
  let result: unknown;
  try {
    result = host.within(node, run);
  } catch (error) {
    ended(true);
    throw error;
  }
  if (isPlainPromise(result)) return settling(result, { returned: () => ended(false), threw: () => ended(true) });
  ended(false);
  return result;
}
