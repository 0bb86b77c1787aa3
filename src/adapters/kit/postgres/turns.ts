/** An operation that may have to wait for its turn, and whose turn may be given up meanwhile. */
export interface Turn {
  /** Set while it waits. Nothing happens when it is called later. */
  giveUp?: (reason: unknown) => void;
}

/** Lets at most `limit` operations run at once; the others wait for their turn, in order. */
export function turns(limit: number): <T>(turn: Turn, operation: () => Promise<T>) => Promise<T> {
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

  function wait(turn: Turn): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      turn.giveUp = (reason) => {
        waiting.delete(resolve);
        reject(reason);
      };
    });
  }

  return async (turn, operation) => {
    if (running < limit) running++;
    else await wait(turn);
    try {
      return await operation();
    } finally {
      next();
    }
  };
}
