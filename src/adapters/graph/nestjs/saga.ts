import { field } from "../../kit/interception/field.ts";
import { type Component, isObject } from "./container.ts";
import type { CqrsChannels } from "./cqrs-channels.ts";
import { portNames } from "./ports.ts";
import type { Site } from "./site.ts";

interface Observer {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/** An Observable of RxJS. */
interface Observable {
  subscribe(observer: Observer): unknown;
}

/**
 * A saga makes commands of events. Each command counts as a message that it handled, of the event that is being published at that
 * moment; of a command that comes later nobody knows which event it is for.
 */
export function watchSaga(site: Site, channels: CqrsChannels, component: Component, name: string): void {
  const { host } = site;
  const node = site.endpoint({
    name: `${component.type.name}.${name}`,
    pattern: "service_activator",
    componentType: "nest:saga",
    properties: { injected: portNames(component) },
  });
  site.wrap(component, name, (method) => {
    return function saga(this: unknown, ...args) {
      const commands = Reflect.apply(method, this, args);
      return observed(commands, (command, next) => {
        if (!command) return next();
        const event = channels.publishing;
        const now = performance.now();
        host.handled(node, { start: now, end: now }, event && host.way(event, "input", node));
        return host.within(node, next);
      });
    };
  });
}

/** An Observable of the same values, each of which is passed on by `pass`; anything else as it is. */
function observed(source: unknown, pass: (value: unknown, next: () => void) => void): unknown {
  const make = observableClass(source);
  if (make === undefined) return source;
  return new make((observer: Observer) =>
    (source as Observable).subscribe({
      next: (value) => pass(value, () => observer.next(value)),
      error: (error) => observer.error(error),
      complete: () => observer.complete(),
    }),
  );
}

/** An Observable that is subscribed to by `subscribe`; anything else as it is. */
export function subscribedBy(source: unknown, subscribe: (subscribe: () => unknown) => unknown): unknown {
  const make = observableClass(source);
  if (make === undefined) return source;
  return new make((observer: Observer) => subscribe(() => (source as Observable).subscribe(observer)));
}

/** The class Observable of the copy of RxJS that made `source`. */
function observableClass(source: unknown): (new (subscribe: (observer: Observer) => unknown) => unknown) | undefined {
  if (!isObject(source) || typeof field(source, "subscribe") !== "function") return undefined;
  let at: object = source;
  for (let next = Object.getPrototypeOf(at); next !== null && next !== Object.prototype; ) {
    at = next;
    next = Object.getPrototypeOf(at);
  }
  return typeof field(at, "lift") === "function" ? (at.constructor as never) : undefined;
}
