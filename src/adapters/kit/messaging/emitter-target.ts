import { hasMethods, isObject } from "../interception/field.ts";
import { WatchedObjects } from "./watching-adapter.ts";

// biome-ignore lint/suspicious/noExplicitAny: the methods of emitters of Node.js and of EventEmitter2.
type Any = any;

/** An emitter of events: Node's own, or one of EventEmitter2. */
export interface Emitter {
  emit(event: Any, ...args: Any[]): Any;
  on(event: Any, listener: (...args: Any[]) => void): Any;
  removeListener(event: Any, listener: (...args: Any[]) => void): Any;
  eventNames(): Any[];
}

/** A function as an emitter keeps it. One that is called once knows the listener that the application added. */
export type Listener = ((this: unknown, ...args: never[]) => unknown) & { readonly listener?: unknown };

export type EventName = string | symbol;

/** The emitters that any adapter watches: an event must not count twice. */
export const watchedEmitters = new WatchedObjects("emitter");

export function isEmitter(value: unknown): value is Emitter {
  return hasMethods(value, "emit", "on", "removeListener", "eventNames");
}

/** The separator of the parts of an event's name, if this is an EventEmitter2 whose listeners can listen to `order.*`. */
export function wildcardDelimiter(emitter: Emitter): string | undefined {
  if (Reflect.get(emitter, "wildcard") !== true) return undefined;
  const delimiter: unknown = Reflect.get(emitter, "delimiter");
  return typeof delimiter === "string" && delimiter !== "" ? delimiter : ".";
}

/**
 * Replaces each listener of an emitter by `change(event, listener)`, in the same order. Adding and removing them would emit events,
 * and start streams.
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
