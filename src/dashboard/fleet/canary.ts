import { signal } from "@preact/signals";
import {
  type CanaryEnded,
  type CanaryProgress,
  CanaryEnded_Outcome as Outcome,
} from "../../gen/actuator/v3/fleet_pb.ts";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { faultOf } from "../components/call-fault.ts";
import { durationOf } from "../components/duration.ts";
import { warningToast } from "../components/level-toasts.tsx";
import type { Fault } from "../link/messages.ts";
import { noteOwn } from "../state/own-changes.ts";
import { link } from "../state/server.ts";

/** A canary to run. */
export interface NewCanary {
  readonly name: string;
  readonly level: Level;
  /** Which instances get the level if it is promoted; empty: all. */
  readonly selector: string;
  /** How many of them get it first. */
  readonly instances: number;
  /** How long the promoted level lasts, in milliseconds; 0: permanent. */
  readonly ms: number;
  /** When it is promoted by itself, in milliseconds; 0: never. */
  readonly promoteMs: number;
  readonly reason: string;
}

/** The canary that this tab runs, or has run. */
export interface CanaryState {
  readonly request: NewCanary;
  readonly startedAt: number;
  readonly progress: CanaryProgress | undefined;
  readonly ended: CanaryEnded | undefined;
  /** Why the stream broke; the canary is then taken back. */
  readonly fault: Fault | undefined;
}

/** It lasts while this tab is open, whatever screen is shown. */
export const canary = signal<CanaryState | undefined>(undefined);

let stop = () => {};

/** Whether the canary can still be promoted or taken back. */
export function isRunning({ ended, fault, progress }: CanaryState): boolean {
  return ended === undefined && fault === undefined && !progress?.isPromoted;
}

/** Runs a canary in place of one that is over. Resolves when it has begun, or to why it has not. */
export function runCanary(request: NewCanary): Promise<string | undefined> {
  stop();
  const begun: CanaryState = {
    request,
    startedAt: Date.now(),
    progress: undefined,
    ended: undefined,
    fault: undefined,
  };
  canary.value = begun;
  const update = (more: Partial<CanaryState>) => {
    if (canary.peek()?.startedAt === begun.startedAt) canary.value = { ...canary.peek()!, ...more };
  };
  const { name, level, selector, instances, ms, promoteMs, reason } = request;
  const asked = { name, level, selector, instances, reason, ttl: durationOf(ms) };
  const input = promoteMs > 0 ? { ...asked, promoteAfter: durationOf(promoteMs) } : asked;
  noteOwn(name);
  return new Promise((resolve) => {
    stop = link.stream("fleet", "runCanary", input, {
      message({ event }) {
        if (event.case === "progress") update({ progress: event.value });
        else if (event.case === "ended") update({ ended: event.value });
        else return;
        resolve(undefined);
      },
      end(fault) {
        if (fault === undefined) return;
        const { startedAt, progress } = canary.peek() ?? {};
        if (startedAt === begun.startedAt && progress === undefined) canary.value = undefined;
        else update({ fault });
        resolve(fault.message);
      },
    });
  });
}

/** Sets the level on all that match, or takes it back. */
export async function finishCanary(promote: boolean): Promise<void> {
  const { request, progress } = canary.peek() ?? {};
  const id = progress?.id;
  if (id === undefined) return;
  noteOwn(request!.name);
  try {
    await link.call("fleet", "finishCanary", { id, promote });
  } catch (error) {
    warningToast(faultOf(error).message);
  }
}

/** Forgets a canary that is over. */
export function dismissCanary(): void {
  stop();
  canary.value = undefined;
}

/** How a canary ended, in words. */
export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  [Outcome.UNSPECIFIED]: "It is over",
  [Outcome.PROMOTED]: "Promoted: the level is set on all instances that match",
  [Outcome.TAKEN_BACK]: "Taken back",
  [Outcome.FAILED]: "Taken back: an instance did not apply the level in time",
  [Outcome.OVERRULED]: "Over: another level was set for the fleet",
};
