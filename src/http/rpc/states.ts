/**
 * The states of something that changes: the present one at once, then the new one after a change. A reader that is slow
 * sees the latest state and not each one between, so nothing piles up. Subscribes when the first state is asked for, and
 * unsubscribes on `return()`, which ends a pending `next()` too.
 */
export function states<T>(
  read: () => T,
  onChange: (listener: () => void) => () => void,
): AsyncIterableIterator<T, undefined> {
  type Result = IteratorResult<T, undefined>;
  let last: { readonly state: T } | undefined;
  let waiting: ((result: Result) => void) | undefined;
  let ended = false;
  let unsubscribe: (() => void) | undefined;

  function take(): Result | undefined {
    if (ended) return { done: true, value: undefined };
    const state = read();
    if (last !== undefined && last.state === state) return undefined;
    last = { state };
    return { done: false, value: state };
  }
  function wake(): void {
    const result = waiting && take();
    if (result === undefined) return;
    waiting!(result);
    waiting = undefined;
  }

  return {
    next() {
      const result = take();
      if (!ended) unsubscribe ??= onChange(wake);
      if (result !== undefined) return Promise.resolve(result);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    return() {
      ended = true;
      unsubscribe?.();
      wake();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
