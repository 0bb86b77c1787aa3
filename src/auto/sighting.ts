import { placeMethod, undoing } from "../adapters/kit/interception/replaced-method.ts";
import type { Findings, Undo } from "./library.ts";

type Method = (this: object, ...args: unknown[]) => unknown;
type See = (object: object, args: readonly unknown[]) => void;

/** How {@link onSight} calls. */
export interface SightingOptions {
  /** Whether the object is seen after the call. Default: before it. */
  readonly after?: boolean;
  /**
   * Whether the object's method is looked up again at the first sight, because what sees the object replaces it. Only before the call.
   */
  readonly again?: boolean;
  /** Whether an object is seen at every call. Default: at the first. */
  readonly always?: boolean;
  /** Whether a call shows its object: all that do not are only passed on. Default: every call. */
  readonly when?: (object: object, args: readonly unknown[]) => boolean;
}

/**
 * Calls `see` with each object on which a method of its prototype is called, and with the arguments of that call. The method is replaced
 * in place, with its descriptor, and given back by the returned function, unless other code has replaced it since; then the replacement
 * does nothing but call the method.
 *
 * @param key the method, or several: an object is seen at the first of them
 */
export function onSight(
  prototype: object,
  key: PropertyKey | readonly PropertyKey[],
  findings: Pick<Findings, "carefully">,
  see: See,
  options: SightingOptions = {},
): Undo {
  const { after = false, again = false, always = false, when = () => true } = options;
  const seen = new WeakSet<object>();
  const isNew = (object: unknown) => typeof object === "object" && object !== null && (always || !seen.has(object));
  const sight: See = (object, args) => {
    if (!isNew(object)) return;
    seen.add(object);
    findings.carefully(() => see(object, args));
  };
  const replace = (name: PropertyKey) =>
    replaceInPlace(prototype, name, (method, isLive) => {
      return function placed(this: object, ...args: unknown[]): unknown {
        if (!isLive() || !isNew(this) || !when(this, args)) return Reflect.apply(method, this, args);
        if (after) {
          const result = Reflect.apply(method, this, args);
          sight(this, args);
          return result;
        }
        // Code around this method, a subclass or a wrapper, runs already, and must not run twice.
        const isOutermost = again && Reflect.get(this, name) === placed;
        sight(this, args);
        const now: unknown = isOutermost ? Reflect.get(this, name) : placed;
        return Reflect.apply(now === placed || typeof now !== "function" ? method : now, this, args);
      };
    });
  return undoing([key].flat().map(replace));
}

const replacements = new WeakSet<object>();

/** Whether a method of an object is replaced in place. */
export function isReplacedIn(object: object): boolean {
  const values = Reflect.ownKeys(object).map((key) => Object.getOwnPropertyDescriptor(object, key)?.value as unknown);
  return values.some((value) => typeof value === "function" && replacements.has(value));
}

/**
 * Calls `see` with each object to which a property is assigned that its prototype does not have, as constructors do. The object gets the
 * property that the assignment would have made.
 *
 * @param prototype of these objects, or the one object itself
 */
export function onAssigned(
  prototype: object,
  key: PropertyKey,
  findings: Pick<Findings, "carefully">,
  see: (object: object) => void,
): Undo {
  if (Object.hasOwn(prototype, key) || !Object.isExtensible(prototype)) return () => {};
  function set(this: object, value: unknown): void {
    Object.defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
    findings.carefully(() => see(this));
  }
  Object.defineProperty(prototype, key, { configurable: true, enumerable: false, get: () => undefined, set });
  return () => {
    if (Object.getOwnPropertyDescriptor(prototype, key)?.set === set) Reflect.deleteProperty(prototype, key);
  };
}

/**
 * Replaces a method of an object by what `make` returns, with the same descriptor, name, number of arguments and other properties. Does
 * nothing if the object itself has no such method, or it cannot be replaced.
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
  // Other preloads keep there what they have wrapped.
  for (const own of Reflect.ownKeys(method)) {
    if (own === "prototype" || own === "arguments" || own === "caller") continue;
    Object.defineProperty(placed, own, Object.getOwnPropertyDescriptor(method, own)!);
  }
  Object.defineProperty(object, key, { ...descriptor, value: placed });
  replacements.add(placed);
  return () => {
    live = false;
    if (Object.getOwnPropertyDescriptor(object, key)?.value === placed) Object.defineProperty(object, key, descriptor);
  };
}

/**
 * Calls `see` before the first call of any of these methods, once. All are then as they were, and what `see` has put in their place is
 * called.
 */
export function beforeFirstCall(
  places: Iterable<readonly [object: object, method: string]>,
  findings: Pick<Findings, "carefully">,
  see: () => void,
): Undo {
  let live = true;
  const restore = undoing(
    [...places].map(([object, key]) =>
      placeMethod(object, key, (method) => {
        return function placed(this: unknown, ...args: unknown[]): unknown {
          if (!live) return Reflect.apply(method, this, args);
          // As in onSight.
          const isOutermost = Reflect.get(object, key) === placed;
          undo();
          findings.carefully(see);
          return Reflect.apply(isOutermost ? (Reflect.get(object, key) as Method) : method, this, args);
        };
      }),
    ),
  );
  function undo(): void {
    live = false;
    restore();
  }
  return undo;
}
