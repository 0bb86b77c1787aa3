export type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Puts `make(method)` in the place of a method on this very object; nothing happens where it has none. Returns what takes it
 * out again. Where somebody has wrapped the method since, taking ours out would take theirs out too: then ours stays inside
 * and calls the method through.
 */
export function replaceMethod(object: object, name: string, make: (method: Method) => Method): () => void {
  const method = methodOf(object, name);
  if (typeof method !== "function") return () => {};
  const own = Object.getOwnPropertyDescriptor(object, name);
  let current = make(method as Method);
  function replaced(this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(current, this, args);
  }
  // Some libraries look at what a method is called, and at how many arguments it takes.
  const { name: called, length } = method;
  Object.defineProperties(replaced, { name: { value: called }, length: { value: length } });
  Object.defineProperty(object, name, { value: replaced, configurable: true, writable: true, enumerable: false });
  return () => {
    current = method as Method;
    if (Object.getOwnPropertyDescriptor(object, name)?.value !== replaced) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

/** The method itself: some objects are proxies, and give out another function that looks it up again. */
function methodOf(object: object, name: string): unknown {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found.get === undefined ? found.value : Reflect.get(object, name);
  }
  return Reflect.get(object, name);
}

/** Undoes what was done, the last first. */
export function undoing(done: readonly (() => void)[]): () => void {
  return () => {
    for (const undo of done.toReversed()) undo();
  };
}
