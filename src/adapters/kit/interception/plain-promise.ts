/** A call whose promise is waited for. */
export interface Call {
  /** Its promise was fulfilled. */
  returned(): void;
  /** Its promise was rejected. */
  threw(): void;
}

/** Whether a value is a promise of the language. Calling `then` of another thenable may start work. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && Object.getPrototypeOf(value) === Promise.prototype;
}

/**
 * A promise that settles as `promise` does, after the call was informed. Watching `promise` aside would mark its rejection as
 * handled, and Node.js would not report it.
 */
export function settling(promise: Promise<unknown>, call: Call): Promise<unknown> {
  return promise.then(
    (value) => {
      call.returned();
      return value;
    },
    (error) => {
      call.threw();
      throw error;
    },
  );
}

/**
 * Calls `fulfilled` or `rejected` when `result` settles, if it is a promise, and returns a promise that settles the same way
 * afterwards. Returns any other result as it is, without calling either.
 *
 * @example
 * ```ts
 * return whenSettled(Reflect.apply(send, this, args), () => sent(false), () => sent(true));
 * ```
 */
export function whenSettled(
  result: unknown,
  fulfilled: (value: unknown) => void,
  rejected?: (error: unknown) => void,
): unknown {
  if (!(result instanceof Promise)) return result;
  return result.then(
    (value) => {
      fulfilled(value);
      return value;
    },
    rejected &&
      ((error) => {
        rejected(error);
        throw error;
      }),
  );
}
