import { signal } from "@preact/signals";
import { type CanaryProgress, CanaryEnded_Outcome as Outcome } from "../../gen/actuator/v3/fleet_pb.ts";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { warningToast } from "../components/level-toasts.tsx";
import { CallError } from "../link/link.ts";
import { link } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { durationOf } from "./duration.ts";

/** What a canary is asked for. */
export interface CanaryAsked {
  readonly name: string;
  readonly level: Level;
  readonly selector: string;
  readonly instances: number;
  readonly lastingMs: number | undefined;
  readonly reason: string;
}

/** The canary of this tab; undefined: there is none. */
export const canary = signal<CanaryProgress | undefined>(undefined);

const SAID: Readonly<Record<Outcome, string>> = {
  [Outcome.UNSPECIFIED]: "The canary has ended",
  [Outcome.PROMOTED]: "The canary was promoted: all instances have answered",
  [Outcome.TAKEN_BACK]: "The canary was taken back",
  [Outcome.FAILED]: "The canary was taken back: an instance did not apply it",
  [Outcome.OVERRULED]: "The canary has ended: another level was set for the fleet",
};

/** Sets a level on a few instances. It is taken back when this tab closes, unless it was promoted. */
export function runCanary({ lastingMs, ...asked }: CanaryAsked): void {
  const ttl = lastingMs === undefined ? {} : { ttl: durationOf(lastingMs) };
  link.stream(
    "fleet",
    "runCanary",
    { ...asked, ...ttl },
    {
      message({ event }) {
        if (event.case === "progress") canary.value = event.value;
        if (event.case !== "ended") return;
        const isGood = event.value.outcome === Outcome.PROMOTED || event.value.outcome === Outcome.TAKEN_BACK;
        toast({ icon: isGood ? "ui-check" : "ui-warning", text: SAID[event.value.outcome] });
      },
      end(reason) {
        canary.value = undefined;
        if (reason !== undefined) warningToast(reason.message);
      },
    },
  );
}

/** Sets the level on all, or takes it back. */
export async function finishCanary(promote: boolean): Promise<void> {
  const { id } = canary.peek() ?? {};
  if (id === undefined) return;
  try {
    await link.call("fleet", "finishCanary", { id, promote });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    warningToast(error.fault.message);
  }
}
