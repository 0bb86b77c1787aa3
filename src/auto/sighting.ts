import type { Findings, Undo } from "./library.ts";

type Method = (this: object, ...args: unknown[]) => unknown;

/** How {@link onSight} calls. */
export interface SightingOptions {
  /** Whether the object is seen after the call. Default: before it. */
  readonly after?: boolean;
  /**
   * Whether a call shows its object: all that do not are only passed on. Default: every call.
   */
  readonly when?: (object: object, args: readonly unknown[]) => boolean;
  /**
   * Whether the object's own method is called if what sees the object replaces it. Only before the call.
   */
  readonly again?: boolean;
}

/**
 * Calls `see` with each object on which a method of its prototype is called, once, and with the arguments of that call. The method is
 * replaced in place, with its descriptor, and given back by the returned function, unless other code has replaced it since; then the
 * replacement does nothing but call the method.
 */
export function onSight(
  prototype: object,
  key: PropertyKey,
  findings: Pick<Findings, "carefully">,
  see: (object: object, args: readonly unknown[]) => void,
  { after = false, again = false, when = () => true }: SightingOptions = {},
): Undo {
  const seen = new WeakSet<object>();
  return replaceInPlace(prototype, key, (method, isLive) => {
    return function (this: object, ...args: unknown[]): unknown {
      if (!isLive() || seen.has(this) || !when(this, args)) return Reflect.apply(method, this, args);
      if (after) {
        const result = Reflect.apply(method, this, args);
        seen.add(this);
        findings.carefully(() => see(this, args));
        return result;
      }
      seen.add(this);
      const before: unknown = Reflect.get(this, key);
      findings.carefully(() => see(this, args));
      const now: unknown = Reflect.get(this, key);
      return Reflect.apply(again && now !== before ? (now as Method) : method, this, args);
    };
  });
}

/**
 * Replaces a method of an object by what `make` returns, with the same descriptor, name and number of arguments. Does nothing if the
 * object itself has no such method, or it cannot be replaced.
 */
export function replaceInPlace(
  object: object,
  key: PropertyKey,
  make: (method: Method, isLive: () => boolean) => Method,
): Undo {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  if (typeof descriptor?.value !== "function" || !(descriptor.configurable || descriptor.writable)) return () => {};
  let live = true;
  const method = descriptor.value as Method;
  const placed = make(method, () => live);
  Object.defineProperties(placed, { name: { value: method.name }, length: { value: method.length } });
  Object.defineProperty(object, key, { ...descriptor, value: placed });
  return () => {
    live = false;
    if (Object.getOwnPropertyDescriptor(object, key)?.value === placed) Object.defineProperty(object, key, descriptor);
  };
}
