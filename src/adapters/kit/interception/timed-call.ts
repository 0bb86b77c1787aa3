import type { Method } from "./replaced-method.ts";

/** How a call went: readings of `performance.now()`, and whether it threw. */
export interface TimedCall {
  readonly start: number;
  readonly end: number;
  readonly failed: boolean;
}

/** Calls `method`, then `over`, whether it returned or threw. A promise is not waited for. */
export function timedCall(
  method: Method,
  self: unknown,
  args: readonly unknown[],
  over: (call: TimedCall) => void,
): unknown {
  const start = performance.now();
  let failed = true;
  try {
    const result = Reflect.apply(method, self, args);
    failed = false;
    return result;
  } finally {
    over({ start, end: performance.now(), failed });
  }
}
