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
    return current.apply(this, args);
  }
  Object.defineProperty(object, name, { value: replaced, configurable: true, writable: true, enumerable: false });
  return () => {
    current = method as Method;
    if (Reflect.get(object, name) !== replaced) return;
    if (own === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, own);
  };
}

/**
 * A request to the broker, of which `done` hears once the broker has agreed: with the arguments, and with the reply. The
 * callback interface takes its callback at `slot`; the promise interface has no such argument, and ignores it.
 *
 * A promise comes back as one that settles the same way: watching it aside would mark its rejection as handled.
 */
export function agreed(
  slot: number,
  done: (args: readonly unknown[], reply: unknown) => void,
): (method: Method) => Method {
  return (method) =>
    function (this: unknown, ...args) {
      const given = args.slice();
      const callback = args[slot];
      while (args.length < slot) args.push(undefined);
      args[slot] = function (this: unknown, ...results: unknown[]) {
        if (!results[0]) done(given, results[1]);
        return typeof callback === "function" ? Reflect.apply(callback, this, results) : undefined;
      };
      const result = Reflect.apply(method, this, args);
      if (!(result instanceof Promise)) return result;
      return result.then((reply) => {
        done(given, reply);
        return reply;
      });
    };
}
