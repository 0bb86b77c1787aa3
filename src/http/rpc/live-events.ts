/** Something that goes on, told as a stream of events. */
export interface LiveSource<Event> {
  /** Begins, and calls `wake` whenever there may be something to tell. Called once, when the first event is asked for. */
  open(wake: () => void): void;
  /** What is to be told now: the next event, "end" after the last one, or undefined while there is nothing. */
  take(): Event | "end" | undefined;
  /** What is told when there was nothing for a while. */
  heartbeat(): Event;
  /** Ends it. Called once where it was opened, however the stream ends. */
  close(): void;
}

/**
 * The events of a source, each taken only when its reader asks for it, so that nothing piles up for a slow one. A reader that
 * waits for `heartbeatMs` without news gets a heartbeat. `return()` closes the source at once and ends a pending `next()`.
 */
export function liveEvents<Event extends object>(
  source: LiveSource<Event>,
  heartbeatMs: number,
): AsyncIterableIterator<Event, undefined> {
  type Result = IteratorResult<Event, undefined>;
  let state: "new" | "open" | "closed" = "new";
  let waiting: { settle(result: Result): void; fail(error: unknown): void; timer: NodeJS.Timeout } | undefined;

  function close(): void {
    const opened = state === "open";
    state = "closed";
    if (opened) source.close();
  }
  function take(): Result | undefined {
    if (state === "closed") return { done: true, value: undefined };
    const event = source.take();
    if (event === undefined) return undefined;
    if (event !== "end") return { done: false, value: event };
    close();
    return { done: true, value: undefined };
  }
  function settle(result: Result | undefined): void {
    if (waiting === undefined || result === undefined) return;
    clearTimeout(waiting.timer);
    waiting.settle(result);
    waiting = undefined;
  }
  function wake(): void {
    if (waiting === undefined) return;
    try {
      settle(take());
    } catch (error) {
      clearTimeout(waiting.timer);
      waiting.fail(error);
      waiting = undefined;
      close();
    }
  }

  return {
    async next() {
      try {
        if (state === "new") {
          source.open(wake);
          state = "open";
        }
        const result = take();
        if (result !== undefined) return result;
      } catch (error) {
        close();
        throw error;
      }
      return new Promise<Result>((settled, fail) => {
        const timer = setTimeout(() => settle({ done: false, value: source.heartbeat() }), heartbeatMs).unref();
        waiting = { settle: settled, fail, timer };
      });
    },
    async return() {
      close();
      settle({ done: true, value: undefined });
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
