/** A call whose promise is waited for. */
export interface Call {
  /** Its promise was fulfilled. */
  returned(): void;
  /** Its promise was rejected. */
  threw(): void;
}

/** Asking another thenable for its `then` may start work. */
export function isPlainPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && Object.getPrototypeOf(value) === Promise.prototype;
}

/**
 * The promise that settles as `promise` does, once the call knows. Watching `promise` aside would mark its rejection as handled,
 * and the process would not learn of it.
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
