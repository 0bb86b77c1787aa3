/** The source of a stream of events. */
export interface LiveSource<Event> {
  /** Begins, and calls `wake` whenever there may be a new event. Called once, when the first event is requested. */
  open(wake: () => void): void;
  /** Returns the next event, "end" after the last one, or undefined while there is none. */
  take(): Event | "end" | undefined;
  /** Returns the event to send if there has been no other for a while. */
  heartbeat(): Event;
  /** Ends it. Called once after `open`, however the stream ends. */
  close(): void;
}

/**
 * Iterates over the events of a source. An event is taken only when the reader requests it, so that nothing accumulates for a slow reader.
 * A reader that waits for `heartbeatMs` gets a heartbeat. `return()` closes the source at once and ends a pending `next()`.
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

/**
 * Iterates over the states of something that changes: the current one at once, then a new one after each change. A slow reader gets only
 * the latest state, so that nothing accumulates. Subscribes when the first state is requested, and unsubscribes on `return()`, which also
 * ends a pending `next()`.
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

/** Limits of the services. */
export interface ServiceLimits {
  /** The maximum size of a page of a list, in bytes of protobuf. */
  readonly maxBytes: number;
  /** The interval of heartbeats in a stream without news, in milliseconds. */
  readonly heartbeatMs: number;
}
