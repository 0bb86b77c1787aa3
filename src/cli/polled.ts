import { setTimeout as delay } from "node:timers/promises";

const MAX_CHECKS = 40;
const CHECK_INTERVAL_MS = 50;

/** Asks for what the server does at once until there is an answer; undefined if there is none within two seconds, or before `end`. */
export async function polled<T>(ask: () => Promise<T | undefined>, end?: AbortSignal): Promise<T | undefined> {
  for (let check = 0; check < MAX_CHECKS && !end?.aborted; check++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(CHECK_INTERVAL_MS);
  }
  return undefined;
}
