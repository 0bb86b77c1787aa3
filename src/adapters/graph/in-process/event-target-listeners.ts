import { field, hasMethods } from "../../kit/interception/field.ts";
import { type Method, replaceMethod, undoing } from "../../kit/interception/replaced-method.ts";
import type { Listener } from "../../kit/messaging/emitter-target.ts";
import type { EventTargetEnd } from "./message-target.ts";

/** A listener as EventTarget takes it. */
type TargetListener = Listener | { readonly handleEvent: Listener };

/** What was added in the place of a listener, and how. */
interface Added {
  readonly measured: Listener;
  readonly options: unknown;
}

/**
 * Measures the listeners to messages of a port or a BroadcastChannel. All its ways to add one lead to `addEventListener`, and the
 * options there say whether it is called with an event or with the message; so they are passed on as they are.
 */
export function watchEventTarget(end: EventTargetEnd, measure: (listener: Listener) => Listener): () => void {
  const added = new Map<TargetListener, Added>();
  const add = end.addEventListener;
  const remove = end.removeEventListener;
  let handling = false;

  const adding = (method: Method): Method =>
    function addEventListener(this: unknown, type, listener, options, ...rest) {
      if (handling || type !== "message" || !isListener(listener) || isAborted(options)) {
        return Reflect.apply(method, this, [type, listener, options, ...rest]);
      }
      const known = added.get(listener)?.measured;
      const measured = known ?? once(listener, measure(functionOf(listener)), options);
      if (known === undefined) added.set(listener, { measured, options });
      return Reflect.apply(method, this, [type, measured, options, ...rest]);
    };
  const removing = (method: Method): Method =>
    function removeEventListener(this: unknown, type, listener, ...rest) {
      const known = type === "message" ? added.get(listener as TargetListener)?.measured : undefined;
      if (known !== undefined) added.delete(listener as TargetListener);
      return Reflect.apply(method, this, [type, known ?? listener, ...rest]);
    };
  /** One that is called once is gone then. */
  function once(listener: TargetListener, measured: Listener, options: unknown): Listener {
    if (!field(options, "once")) return measured;
    return function (this: unknown, ...args: never[]) {
      added.delete(listener);
      return Reflect.apply(measured, this, args);
    };
  }

  const restore = [
    replaceMethod(end, "addEventListener", adding),
    replaceMethod(end, "removeEventListener", removing),
    replaceHandler(end, measure, (set) => {
      handling = true;
      try {
        set();
      } finally {
        handling = false;
      }
    }),
    ...["removeAllListeners"].map((name) =>
      replaceMethod(
        end,
        name,
        (method) =>
          function (this: unknown, ...args) {
            if (args.length === 0 || args[0] === undefined || args[0] === "message") added.clear();
            return Reflect.apply(method, this, args);
          },
      ),
    ),
  ];
  return () => {
    const left = [...added];
    added.clear();
    undoing(restore)();
    // The new ones first: an end that nobody listens to would not keep its thread alive.
    for (const [listener, { options }] of left) {
      if (!isAborted(options)) Reflect.apply(add, end, ["message", listener, options]);
    }
    for (const [, { measured, options }] of left) Reflect.apply(remove, end, ["message", measured, options]);
  };
}

/** Measures `onmessage`: what was set is what is read. `quietly` sets what no listener is told of. */
function replaceHandler(
  end: object,
  measure: (listener: Listener) => Listener,
  quietly: (set: () => void) => void,
): () => void {
  const inherited = inheritedAccessor(end, "onmessage");
  if (inherited?.get === undefined || inherited.set === undefined || Object.hasOwn(end, "onmessage")) return () => {};
  const { get, set } = inherited;
  let current: unknown = Reflect.apply(get, end, []);
  const put = (handler: unknown) => quietly(() => Reflect.apply(set, end, [handler]));
  const use = (handler: unknown) => {
    current = handler;
    put(typeof handler === "function" ? measure(handler as Listener) : handler);
  };
  if (typeof current === "function") use(current);
  Object.defineProperty(end, "onmessage", { configurable: true, enumerable: false, get: () => current, set: use });
  return () => {
    Reflect.deleteProperty(end, "onmessage");
    if (typeof current === "function" && Reflect.apply(get, end, []) !== current) put(current);
  };
}

function inheritedAccessor(object: object, name: string): PropertyDescriptor | undefined {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function functionOf(listener: TargetListener): Listener {
  if (typeof listener === "function") return listener;
  const called = (...args: never[]) => Reflect.apply(listener.handleEvent, listener, args);
  return Object.defineProperty(called, "name", { value: listener.handleEvent.name });
}

function isListener(value: unknown): value is TargetListener {
  return typeof value === "function" || hasMethods(value, "handleEvent");
}

function isAborted(options: unknown): boolean {
  return field(field(options, "signal"), "aborted") === true;
}
