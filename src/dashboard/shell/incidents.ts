import { effect, signal } from "@preact/signals";
import { msOf } from "../components/time.tsx";
import { ownRaises } from "../state/own-changes.ts";
import { application, connection } from "../state/server.ts";

/** The service has started anew while the page was open. */
export interface Restart {
  readonly at: number;
  readonly version: string;
  /** The names of the levels that this page had set. */
  readonly raised: readonly string[];
}

/** The latest restart, until the operator closes its alert. */
export const restart = signal<Restart | undefined>(undefined);

/** When the service stopped accepting the credentials of this page, after it had; undefined if it accepts them. */
export const revokedAt = signal<number | undefined>(undefined);

let started = 0;

effect(() => {
  const { startTime, version } = application.value ?? {};
  if (startTime === undefined) {
    started = 0;
    restart.value = undefined;
    return;
  }
  const at = msOf(startTime);
  if (started !== 0 && at !== started) restart.value = { at, version: version ?? "", raised: ownRaises() };
  started = at;
});

effect(() => {
  const { status } = connection.value;
  if (status !== "refused" || application.peek() === undefined) revokedAt.value = undefined;
  else revokedAt.value ??= Date.now();
});
