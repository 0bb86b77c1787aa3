export type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Puts `make(method)` in the place of a method on this very object; nothing happens where it has none. Returns what takes it
 * out again. Where somebody has wrapped the method since, taking ours out would take theirs out too: then ours stays inside
 * and calls the method through.
 */
export function replaceMethod(object: object, name: string, make: (method: Method) => Method): () => void {
  const method: unknown = Reflect.get(object, name);
  if (typeof method !== "function") return () => {};
  const own = Object.getOwnPropertyDescriptor(object, name);
  let current = make(method as Method);
  function replaced(this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(current, this, args);
  }
  Object.defineProperty(object, name, { value: replaced, configurable: true, writable: true, enumerable: false });
  return () => {
    current = method as Method;
    if (Reflect.get(object, name) !== replaced) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

/** The same for several methods. */
export function replaceMethods(object: object, makers: { readonly [name: string]: (method: Method) => Method }) {
  const restore = Object.entries(makers).map(([name, make]) => replaceMethod(object, name, make));
  return (): void => {
    for (const put of restore.toReversed()) put();
  };
}
