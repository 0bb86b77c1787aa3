export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Makes a method that does the same, and more. */
export type Making = (method: Method) => Method;

/**
 * Puts `make(method)` in the place of a method on this very object; nothing happens where it has none. Returns what takes it
 * out again. Where somebody has wrapped the method since, taking ours out would take theirs out too: then ours stays inside
 * and calls the method through.
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

/**
 * The same for methods that every message passes: what `make` gives is called itself. Where it stays inside, it has to see by
 * itself that nobody watches any more.
 */
export function placeMethod(object: object, name: string, make: Making): () => void {
  const method = methodOf(object, name);
  if (typeof method !== "function") return () => {};
  const own = Object.getOwnPropertyDescriptor(object, name);
  const placed = make(method as Method);
  // Some libraries look at what a method is called, and at how many arguments it takes.
  const { name: called, length } = method;
  Object.defineProperties(placed, { name: { value: called }, length: { value: length } });
  Object.defineProperty(object, name, { value: placed, configurable: true, writable: true, enumerable: false });
  return () => {
    if (Object.getOwnPropertyDescriptor(object, name)?.value !== placed) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

/** The same as `replaceMethod` for several methods. */
export function replaceMethods(object: object, makers: { readonly [name: string]: Making }): () => void {
  return undoing(Object.entries(makers).map(([name, make]) => replaceMethod(object, name, make)));
}

/** Undoes what was done, the last first. */
export function undoing(done: readonly (() => void)[]): () => void {
  return () => {
    for (const undo of done.toReversed()) undo();
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
