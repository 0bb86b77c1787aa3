import { ActuatorError } from "../../../common/error.ts";

/** Node's callback convention, as the connect family's stores use it. */
export type StoreCallback<T> = (error?: unknown, result?: T | null) => void;

/**
 * Calls a store's callback method and settles within `timeout` milliseconds.
 *
 * @throws ActuatorError UNAVAILABLE where the store throws, reports an error or does not answer in time; `cause` is the
 * store's own error, which may name hosts and keys and is therefore not part of the message.
 */
export function callStore<T>(timeout: number, call: (callback: StoreCallback<T>) => unknown): Promise<T | undefined> {
  return awaitStore<T | undefined>(timeout, () => {
    return new Promise((resolve, reject) => {
      const returned = call((error, result) => {
        if (error) reject(error);
        else resolve(result ?? undefined);
      });
      // Stores written with async functions reject the promise that nobody takes (tj/connect-redis v8 and later).
      if (returned instanceof Promise) returned.catch(reject);
    });
  });
}

/**
 * Waits for what a store does, for at most `timeout` milliseconds.
 *
 * @throws ActuatorError as `callStore` does.
 */
export async function awaitStore<T>(timeout: number, call: () => T | Promise<T>): Promise<Awaited<T>> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(unavailable(`The session store did not answer within ${timeout} ms.`)),
    timeout,
  );
  const answer = (async () => call())().catch((cause: unknown) => {
    throw cause instanceof ActuatorError ? cause : unavailable("The session store could not be reached.", cause);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(message: string, cause?: unknown): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message, {}, { cause });
}
