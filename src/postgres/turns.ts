/**
 * Lets at most `limit` operations run at once; the others wait for their turn, in order. An operation whose signal is
 * aborted while it waits gives its turn up.
 */
export function turns(limit: number): <T>(signal: AbortSignal, operation: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting = new Set<() => void>();

  function next(): void {
    const [first] = waiting;
    if (first === undefined) running--;
    else {
      waiting.delete(first);
      first();
    }
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const give = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(give);
        reject(signal.reason);
      };
      waiting.add(give);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  return async (signal, operation) => {
    if (running < limit) running++;
    else await turn(signal);
    try {
      return await operation();
    } finally {
      next();
    }
  };
}
