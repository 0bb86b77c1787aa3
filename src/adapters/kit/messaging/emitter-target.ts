import { hasMethods, isObject } from "../interception/field.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of emitters of Node.js and of EventEmitter2.
type Any = any;

/** An emitter of events: Node's own, or one of EventEmitter2. */
export interface Emitter {
  emit(event: Any, ...args: Any[]): Any;
  on(event: Any, listener: (...args: Any[]) => void): Any;
  removeListener(event: Any, listener: (...args: Any[]) => void): Any;
  eventNames(): Any[];
}

/** A function as an emitter keeps it: one that was added to be called once knows the listener that the application added. */
export type Listener = ((this: unknown, ...args: never[]) => unknown) & { readonly listener?: unknown };

export type EventName = string | symbol;

export function isEmitter(value: unknown): value is Emitter {
  return hasMethods(value, "emit", "on", "removeListener", "eventNames");
}

/** What separates the parts of an event's name, where an emitter of EventEmitter2 lets listeners listen to `order.*`. */
export function wildcardDelimiter(emitter: Emitter): string | undefined {
  if (Reflect.get(emitter, "wildcard") !== true) return undefined;
  const delimiter: unknown = Reflect.get(emitter, "delimiter");
  return typeof delimiter === "string" && delimiter !== "" ? delimiter : ".";
}

/**
 * Puts `change(event, listener)` in the place of each listener that an emitter has, in the same order. Adding and removing them
 * would be heard of, and makes streams flow.
 */
export function changeListeners(emitter: Emitter, change: (event: EventName, listener: Listener) => Listener): void {
  const changeAt = (holder: object, key: EventName, event: EventName) => {
    const entry: unknown = Reflect.get(holder, key);
    if (typeof entry === "function") Reflect.set(holder, key, change(event, entry as Listener));
    else if (Array.isArray(entry)) {
      for (const [index, listener] of entry.entries()) entry[index] = change(event, listener);
    }
  };
  const delimiter = wildcardDelimiter(emitter);
  if (delimiter !== undefined) {
    walkTree(Reflect.get(emitter, "listenerTree"), [], (branch, path) =>
      changeAt(branch, "_listeners", path.join(delimiter)),
    );
    return;
  }
  const events: unknown = Reflect.get(emitter, "_events");
  if (!isObject(events)) return;
  for (const event of Reflect.ownKeys(events)) changeAt(events, event, event);
}

function walkTree(branch: unknown, path: readonly string[], visit: (branch: object, path: readonly string[]) => void) {
  if (!isObject(branch)) return;
  if (Reflect.has(branch, "_listeners")) visit(branch, path);
  for (const [part, next] of Object.entries(branch)) if (part !== "_listeners") walkTree(next, [...path, part], visit);
}
