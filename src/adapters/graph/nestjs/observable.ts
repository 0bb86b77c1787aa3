import { field } from "../../kit/interception/field.ts";
import { isObject } from "./container.ts";

interface Observer {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/** An Observable of RxJS. */
interface Observable {
  subscribe(observer: Observer): unknown;
}

/** An Observable of the same values, each of which is passed on by `pass`; anything else as it is. */
export function observed(source: unknown, pass: (value: unknown, next: () => void) => void): unknown {
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
