import { ActuatorError } from "../../../common/error.ts";
import { awaitStore } from "../../kit/connect-session/store.ts";

/**
 * Waits for work on the application's storage for at most `timeoutMs`.
 *
 * @throws ActuatorError UNAVAILABLE if it fails or does not answer in time; the storage's own error is the `cause`.
 */
export function bounded<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  return awaitStore(timeoutMs, work, "better-auth's storage");
}

/** Rethrows errors of work that passes tokens to the storage without their text: libraries repeat a command's values in it. */
export async function withoutValues<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ActuatorError) throw error;
    const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
    const words = [name, code].filter((word) => typeof word === "string" && /^\w{1,64}$/.test(word));
    throw new Error(`${words.join(" ") || "an error"} (its text may hold a token and is left out)`);
  }
}
