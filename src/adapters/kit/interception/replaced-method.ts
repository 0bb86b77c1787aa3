/** A method of an object of a library. */
export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Makes a method that does the same as the one it is given, and more. */
export type Making = (method: Method) => Method;

/** Whether wrapped methods still measure. One that other code has wrapped stays in place after the adapter is detached. */
export interface Live {
  live: boolean;
}

/**
 * Replaces a method of this one object by `make(method)`. Does nothing if the object has no such method.
 *
 * @returns a function that restores the method. If other code has wrapped the method since, restoring it would remove that wrapper
 *   too: then ours stays and only calls the original.
 * @example
 * ```ts
 * const restore = replaceMethod(queue, "send", (send) => function (this: unknown, ...args) {
 *   const start = performance.now();
 *   const result = Reflect.apply(send, this, args);
 *   host.sent(node, outcome(start, false));
 *   return result;
 * });
 * ```
 */
export function replaceMethod(object: object, name: string, make: Making): () => void {
  let stop = () => {};
  const restore = placeMethod(object, name, (method) => {
    let current = make(method);
    stop = () => {
      current = method;
    };
    return function (this: unknown, ...args: unknown[]): unknown {
      return Reflect.apply(current, this, args);
    };
  });
  return () => {
    stop();
    restore();
  };
}

/** What was there before methods that ended beneath another one, which takes them away with itself. */
const ended = new WeakMap<Method, PropertyDescriptor | undefined>();

/**
 * The same for methods that are called for every message: the function that `make` returns is called directly. If it stays in place
 * after it was restored, it has to check by itself whether it still measures, as by a {@link Live}.
 *
 * @example
 * ```ts
 * const live: Live = { live: true };
 * const restore = placeMethod(queue, "send", (send) => function (this: unknown, message) {
 *   if (live.live) count++;
 *   return send.call(this, message);
 * });
 * ```
 */
export function placeMethod(object: object, name: string | symbol, make: Making): () => void {
  const method = methodOf(object, name);
  if (typeof method !== "function") return () => {};
  const own = Object.getOwnPropertyDescriptor(object, name);
  const placed = make(method as Method);
  // Some libraries read the name of a method and the number of its arguments.
  const { name: called, length } = method;
  Object.defineProperties(placed, { name: { value: called }, length: { value: length } });
  // As visible as it was: applications copy some clients.
  const enumerable = own?.enumerable ?? false;
  Object.defineProperty(object, name, { value: placed, configurable: true, writable: true, enumerable });
  return () => {
    if (Object.getOwnPropertyDescriptor(object, name)?.value !== placed) {
      ended.set(placed, own);
      return;
    }
    let before = own;
    while (ended.has(before?.value)) before = ended.get(before!.value);
    if (before === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, before);
  };
}

/**
 * Replaces several methods, each as {@link replaceMethod} does.
 *
 * @example
 * ```ts
 * const restore = replaceMethods(queue, { send: measured, sendAll: measured });
 * ```
 */
export function replaceMethods(object: object, makers: { readonly [name: string]: Making }): () => void {
  return undoing(Object.entries(makers).map(([name, make]) => replaceMethod(object, name, make)));
}

/**
 * A function that calls all of these, the last first.
 *
 * @example
 * ```ts
 * const unwatch = undoing([replaceMethod(queue, "send", sending), () => queue.off("close", onClose)]);
 * ```
 */
export function undoing(done: readonly (() => void)[]): () => void {
  return () => {
    for (const undo of done.toReversed()) undo();
  };
}

/** The method itself: a proxy may return another function that looks it up again. */
function methodOf(object: object, name: string | symbol): unknown {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found.get === undefined ? found.value : Reflect.get(object, name);
  }
  return Reflect.get(object, name);
}

/** How a call went: readings of `performance.now()`, and whether it threw. */
export interface TimedCall {
  readonly start: number;
  readonly end: number;
  readonly failed: boolean;
}

/** Calls `method`, then `over`, whether it returned or threw. Does not wait for a promise. */
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
