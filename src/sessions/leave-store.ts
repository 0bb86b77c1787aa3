import { ActuatorError } from "../common/error.ts";
import type { SessionStore } from "./store.ts";

/**
 * Has the store leave the application as it was.
 *
 * @throws ActuatorError UNAVAILABLE where that takes longer than `timeout` milliseconds, or what the store threw.
 */
export async function leaveStore(store: SessionStore, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The session store was not left within ${timeout} ms.`;
    timer = setTimeout(() => reject(new ActuatorError("UNAVAILABLE", "SESSION_STORE_UNAVAILABLE", message)), timeout);
  });
  try {
    await Promise.race([store.detach?.(), late]);
  } finally {
    clearTimeout(timer);
  }
}
