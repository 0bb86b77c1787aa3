import type { GraphHost } from "../integration-graph/adapter.ts";
import type { GraphLink } from "../integration-graph/link.ts";
import type { GraphNode } from "../integration-graph/node.ts";

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
  if (!isPlainPromise(result)) {
    ended(false);
    return result;
  }
  // Watching the promise aside would mark its rejection as handled, and the process would not learn of it.
  return result.then(
    (value) => {
      ended(false);
      return value;
    },
    (error) => {
      ended(true);
      throw error;
    },
  );
}

/** Asking another thenable for its `then` may start work. */
function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && Object.getPrototypeOf(value) === Promise.prototype;
}
