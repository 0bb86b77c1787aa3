/** Any function. What a measured function takes and gives stays as it is. */
export type AnyFunction = (...args: never[]) => unknown;

/**
 * A reading of `performance.now()` that holds as long as only the library runs; else 0. What is measured around the calls of measured
 * functions shares it with them, since reading the clock costs more than all else: the time at which an event is emitted is that
 * at which its first listener begins.
 */
export interface Moment {
  at: number;
}

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
 * Only plain promises are waited for. Asking any other thenable, or a promise of a class of its own, for its `then` may
 * start work, as query builders do; these come back themselves and count when they are returned.
 */
export function measured<F extends AnyFunction, C>(fn: F, meter: Meter<C>, moment: Moment = { at: 0 }): F {
  function measuredCall(this: unknown, ...args: unknown[]): unknown {
    const call = meter.begin();
    const known = moment.at;
    moment.at = 0;
    const start = known === 0 ? performance.now() : known;
    let result: unknown;
    try {
      result = meter.run(call, fn, this, args);
    } catch (error) {
      meter.failed(call, start, performance.now());
      throw error;
    }
    if (isPlainPromise(result)) return settled(result, meter, call, start);
    const end = performance.now();
    if (known !== 0) moment.at = end;
    meter.succeeded(call, result, start, end);
    return result;
  }
  return Object.defineProperties(measuredCall, Object.getOwnPropertyDescriptors(fn)) as unknown as F;
}

function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && Object.getPrototypeOf(value) === Promise.prototype;
}

/**
 * The promise that settles as `promise` does, once that is measured. Watching `promise` and returning it as it is would
 * mark its rejection as handled, and the process would no longer report one that is not handled.
 */
function settled<C>(promise: Promise<unknown>, meter: Meter<C>, call: C, start: number): Promise<unknown> {
  const measuredPromise = promise.then(
    (value) => {
      meter.succeeded(call, value, start, performance.now());
      return value;
    },
    (error) => {
      meter.failed(call, start, performance.now());
      throw error;
    },
  );
  // Such as `cancel`. Not the symbols: where Node.js tracks promises it keeps their identity under some.
  for (const key of Object.keys(promise)) Reflect.set(measuredPromise, key, Reflect.get(promise, key));
  return measuredPromise;
}
