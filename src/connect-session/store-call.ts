import { ActuatorError } from "../error.ts";

/** Node's callback convention, as express-session's stores use it. */
export type StoreCallback<T> = (error?: unknown, result?: T | null) => void;

/**
 * Calls a store's callback method and settles within `timeout` milliseconds.
 *
 * @throws ActuatorError UNAVAILABLE where the store throws, reports an error or does not answer in time; `cause` is the
 * store's own error, which may name hosts and keys and is therefore not part of the message.
 */
export function callStore<T>(timeout: number, call: (callback: StoreCallback<T>) => unknown): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(`The session store did not answer within ${timeout} ms.`), timeout);
    const fail = (message: string, cause?: unknown): void => {
      clearTimeout(timer);
      reject(new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message, {}, { cause }));
    };
    const failWith = (cause: unknown): void => fail("The session store could not be reached.", cause);
    try {
      const returned = call((error, result) => {
        clearTimeout(timer);
        if (error) failWith(error);
        else resolve(result ?? undefined);
      });
      // Stores written with async functions reject the promise that nobody takes (tj/connect-redis v8 and later).
      if (returned instanceof Promise) returned.catch(failWith);
    } catch (error) {
      failWith(error);
    }
  });
}
