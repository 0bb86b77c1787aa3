import { ActuatorError } from "../../../common/error.ts";

/** Runs a piece of work on the application's storage. */
export type BoundedCall = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Settles within `timeout` milliseconds, whatever the storage does.
 *
 * @throws ActuatorError UNAVAILABLE where it fails or does not answer in time. `cause` is the storage's own error, unless
 * `bearer` says that the work hands tokens to the storage: libraries repeat the values of a failed command in their errors.
 */
export function boundedCall(timeout: number, { bearer = false }: { readonly bearer?: boolean } = {}): BoundedCall {
  return async (work) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(unavailable(`better-auth's storage did not answer within ${timeout} ms.`)),
        timeout,
      );
    });
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      if (error instanceof ActuatorError) throw error;
      throw unavailable(
        "better-auth's storage could not be reached, or failed.",
        bearer ? withoutValues(error) : error,
      );
    } finally {
      clearTimeout(timer);
    }
  };
}

function unavailable(message: string, cause?: unknown): ActuatorError {
  return new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message, {}, { cause });
}

/** What kind of error it was, in words that hold no value. */
function withoutValues(error: unknown): Error {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  const words = [name, code].filter((word) => typeof word === "string" && /^\w{1,64}$/.test(word));
  return new Error(`${words.join(" ") || "an error"} (its text may hold a token and is left out)`);
}
