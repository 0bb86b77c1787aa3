import { types } from "node:util";

/** Any function. What a measured function takes and gives stays as it is. */
export type AnyFunction = (...args: never[]) => unknown;

/** What measuring a call consists of. `C` is what the meter keeps of one call. None of its functions may throw. */
export interface Meter<C> {
  /** A call begins. */
  begin(): C;
  /** Makes the call. */
  run(call: C, fn: AnyFunction, self: unknown, args: unknown[]): unknown;
  /** The call returned `result`, or its promise was fulfilled with it. Times are readings of `performance.now()`. */
  succeeded(call: C, result: unknown, start: number, end: number): void;
  /** The call threw, or its promise was rejected. */
  failed(call: C, start: number, end: number): void;
}

/**
 * A function of the same type as `fn` whose calls are measured: `this`, arguments, result and errors pass through
 * untouched, and so do `name`, `length` and further properties of `fn`. A promise is measured until it settles.
 *
 * Only real promises are waited for. Calling `then` of any other thenable may start work, as query builders do, so
 * these count when they are returned.
 */
export function measured<F extends AnyFunction, C>(fn: F, meter: Meter<C>): F {
  function measuredCall(this: unknown, ...args: unknown[]): unknown {
    const call = meter.begin();
    const start = performance.now();
    let result: unknown;
    try {
      result = meter.run(call, fn, this, args);
    } catch (error) {
      meter.failed(call, start, performance.now());
      throw error;
    }
    if (types.isPromise(result)) return settled(result, meter, call, start);
    meter.succeeded(call, result, start, performance.now());
    return result;
  }
  return Object.defineProperties(measuredCall, Object.getOwnPropertyDescriptors(fn)) as unknown as F;
}

function settled<C>(promise: Promise<unknown>, meter: Meter<C>, call: C, start: number): Promise<unknown> {
  const onFulfilled = (value: unknown) => {
    meter.succeeded(call, value, start, performance.now());
    return value;
  };
  const onRejected = (error: unknown) => {
    meter.failed(call, start, performance.now());
    throw error;
  };
  // A subclass may carry methods that the caller needs, so it is returned itself. A plain promise is not: watching it
  // would mark its rejection as handled, and the process would no longer learn of one that nobody handles.
  if (Object.getPrototypeOf(promise) === Promise.prototype) return promise.then(onFulfilled, onRejected);
  Promise.prototype.then.call(promise, onFulfilled, onRejected);
  return promise;
}
