import { effect, signal } from "@preact/signals";
import { msOf } from "../components/time.tsx";
import type { Fault } from "../link/messages.ts";
import { activity } from "../state/activity.ts";
import { loggers } from "../state/loggers.ts";
import { ownRaises } from "../state/own-changes.ts";
import { application, connection, refuse } from "../state/server.ts";

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

for (const store of [loggers, activity]) {
  let told: Fault | undefined;
  effect(() => {
    const { fault } = store.value;
    // A fault of the credentials before these stays until the store has its first message.
    if (fault === told) return;
    told = fault;
    if (fault?.code === "UNAUTHENTICATED" && connection.peek().status === "live") refuse(fault);
  });
}

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
