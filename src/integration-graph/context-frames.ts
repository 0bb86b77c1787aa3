import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";

/** The values of all storages in one context. Never changed once it is made. */
type Frame = ReadonlyMap<object, unknown>;

/** Node.js' own access to the frame of the current context; undefined stands for a frame without values. */
interface Frames {
  current(): Frame | undefined;
  set(frame: Frame | undefined): void;
}

/**
 * Since version 24 Node.js keeps the values of all storages in one frame, and `AsyncLocalStorage.run` copies it twice: that was
 * most of what a measured call cost. With access to the frames, the same one can be entered again for every message. It is not
 * documented, so it is tried first; undefined if it is missing, as in Node.js 22, where `run` copies nothing.
 */
const frames = findFrames();

function findFrames(): Frames | undefined {
  const storage = new AsyncLocalStorage<unknown>();
  const resource = storage.run(storage, () => new AsyncResource("connect-actuator"));
  // Like a Map, but not an instance of it.
  const frame = Object.getOwnPropertySymbols(resource)
    .map((symbol) => Reflect.get(resource, symbol) as Frame | undefined)
    .find((value) => typeof value?.get === "function" && value.get(storage) === storage);
  const found = frame?.constructor as Partial<Frames> | undefined;
  if (typeof found?.current !== "function" || typeof found.set !== "function") return undefined;
  const outside = found.current();
  found.set(frame);
  const works = storage.getStore() === storage && found.current() === frame;
  // `run` has left a place for the storage in the frame of this module.
  found.set(outside?.size === 1 ? undefined : outside);
  return works && storage.getStore() === undefined ? (found as Frames) : undefined;
}

/** A value of a {@link ContextStorage}. */
export abstract class ContextValue {
  /** The frame with this value. */
  frame: Frame | undefined;
  /** The frame without values that `frame` was made from. */
  base: Frame | undefined;
}

/** An AsyncLocalStorage whose values are entered again and again. */
export class ContextStorage<Value extends ContextValue> {
  readonly #storage = new AsyncLocalStorage<Value | undefined>();

  /** The value in whose context this is read. */
  get value(): Value | undefined {
    return this.#storage.getStore();
  }

  /** Calls `fn` in the context of `value`, as `AsyncLocalStorage.run` does. */
  run(value: Value, fn: (...args: never[]) => unknown, self: unknown, args: readonly unknown[]): unknown {
    if (frames === undefined) return this.#storage.run(value, Reflect.apply, fn, self, args);
    const outside = frames.current();
    const running = outside?.get(this.#storage) as Value | undefined;
    const base = running !== undefined && running.frame === outside ? running.base : outside;
    if (value.frame !== undefined && value.base === base) frames.set(value.frame);
    else this.#enter(value, base, frames);
    const inside = frames.current();
    try {
      return Reflect.apply(fn, self, args);
    } finally {
      // If the function has entered a context of another storage, its caller goes on in that.
      if (frames.current() === inside) frames.set(outside);
      else this.#storage.enterWith(running);
    }
  }

  #enter(value: Value, base: Frame | undefined, frames: Frames): void {
    this.#storage.enterWith(value);
    // A frame with values, such as those of a request, must not be kept alive.
    if (!isEmpty(base)) return;
    value.base = base;
    value.frame = frames.current();
  }
}

/** Whether no storage has a value: those that were left keep their places. */
function isEmpty(frame: Frame | undefined): boolean {
  let empty = true;
  frame?.forEach((value) => {
    empty &&= value === undefined;
  });
  return empty;
}
