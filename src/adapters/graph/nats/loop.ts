import type { Unwatch } from "./target.ts";

/** What is told of a loop that takes messages one by one. */
export interface Loop<M> {
  /** The loop got a message. */
  took(message: M): void;
  /** It asks for the next one, so it has done with that; `left` where it asks for no more. */
  done(left: boolean): void;
}

/**
 * Tells what the loops over an iterable do with each of its messages. A `for await` runs in no context of ours, so what it sends
 * is not known to be sent because of a message.
 */
export function watchLoops<M>(iterable: AsyncIterable<M>, begin: () => Loop<M>): Unwatch {
  const own = Object.getOwnPropertyDescriptor(iterable, Symbol.asyncIterator);
  const iterate = iterable[Symbol.asyncIterator];
  let live = true;
  function watchedIterate(this: unknown, ...args: unknown[]): AsyncIterator<M> {
    const inner = Reflect.apply(iterate, this, args) as AsyncIterator<M>;
    return live ? watchedIterator(inner, begin(), () => live) : inner;
  }
  const place = { value: watchedIterate, configurable: true, writable: true, enumerable: false };
  Object.defineProperty(iterable, Symbol.asyncIterator, place);
  return () => {
    live = false;
    if (Reflect.get(iterable, Symbol.asyncIterator) !== watchedIterate) return;
    if (own === undefined) Reflect.deleteProperty(iterable, Symbol.asyncIterator);
    else Object.defineProperty(iterable, Symbol.asyncIterator, own);
  };
}

function watchedIterator<M>(inner: AsyncIterator<M>, loop: Loop<M>, live: () => boolean): AsyncIterator<M> {
  let inHand = false;
  function done(left: boolean): void {
    if (inHand && live()) loop.done(left);
    inHand = false;
  }
  const outer = {
    async next() {
      done(false);
      const result = await inner.next();
      if (!result.done && live()) {
        inHand = true;
        loop.took(result.value);
      }
      return result;
    },
    return(value?: unknown) {
      done(true);
      return inner.return?.(value) ?? Promise.resolve({ done: true as const, value });
    },
    throw(error?: unknown) {
      done(true);
      return inner.throw?.(error) ?? Promise.reject(error);
    },
    [Symbol.asyncIterator]: () => outer,
  };
  return outer;
}
