import { signal } from "@preact/signals";

/** The present time in milliseconds, which moves on every second; what shows relative times reads it. */
export const now = signal(Date.now());

setInterval(() => {
  now.value = Date.now();
}, 1_000);
