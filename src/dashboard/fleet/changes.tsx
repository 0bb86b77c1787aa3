import type { ComponentChildren } from "preact";
import type { FleetLevel } from "../../gen/actuator/v3/fleet_pb.ts";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import { faultOf } from "../components/call-fault.ts";
import { confirmation } from "../components/confirmation.tsx";
import { durationOf } from "../components/duration.ts";
import { warningToast } from "../components/level-toasts.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { levelName } from "../state/levels.ts";
import { noteOwn } from "../state/own-changes.ts";
import { application, fleetOf, link, whyNot } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { levels, readLevels } from "./model.ts";

/** A level for the fleet. */
export interface NewLevel {
  readonly name: string;
  readonly level: Level;
  /** Which instances; empty: all. */
  readonly selector: string;
  /** Milliseconds; 0: permanent. */
  readonly ms: number;
  readonly reason: string;
}

/** Why this caller cannot change the fleet; undefined: it can. */
export function whyNotChange(): string | undefined {
  return whyNot("loggers:write");
}

/** Why this caller cannot end everything; undefined: it can. */
export function whyNotReset(): string | undefined {
  const isForSome = (application.value?.caller?.loggers.length ?? 0) > 0;
  return whyNotChange() ?? (isForSome ? "you may change some loggers only" : undefined);
}

/** Sets a level on all instances that match. Resolves to why that failed. */
export async function setFleetLevel({ name, level, selector, ms, reason }: NewLevel): Promise<string | undefined> {
  const request = { name, level, reason, ttl: durationOf(ms), scope: Scope.FLEET, fleet: { selector } };
  let fault: string | undefined;
  noteOwn(name);
  await attempt(
    () => link.call("loggers", "setLoggerLevel", request),
    () => (
      <>
        The fleet has <Outside class="mono" text={name} /> at {levelName(level)}
      </>
    ),
    (message) => {
      fault = message;
    },
  );
  return fault;
}

/** Ends a level of the fleet: what each instance had of its own comes back. */
export async function clearFleetLevel({ name, selector }: FleetLevel): Promise<void> {
  noteOwn(name);
  await attempt(
    () => link.call("loggers", "clearLoggerLevel", { name, scope: Scope.FLEET, fleet: { selector } }),
    () => (
      <>
        The fleet’s level of <Outside class="mono" text={name} /> has ended
      </>
    ),
  );
}

/** Ends a level of the fleet and what was set before on single instances. */
export async function restoreFleetLevel({ name, selector }: FleetLevel): Promise<void> {
  noteOwn(name);
  await attempt(
    () => link.call("loggers", "restoreLoggerLevel", { name, scope: Scope.FLEET, fleet: { selector } }),
    () => (
      <>
        <Outside class="mono" text={name} /> is restored in the fleet
      </>
    ),
  );
}

/** Ends every level of the fleet after the operator has confirmed it. */
export async function askAndReset(): Promise<void> {
  await readLevels();
  const { rows, more, fault } = levels.peek();
  if (fault !== undefined) return warningToast(fault.message);
  const number = counted(rows.length + more, "level");
  const fleet = fleetOf.peek();
  const isWanted = await confirmation({
    title: (
      <>
        End all levels of the fleet
        {fleet && (
          <>
            {" "}
            <Outside text={fleet.name} />
          </>
        )}
        ?
      </>
    ),
    body: `${number} will end on every instance, also canaries and levels that other callers hold. Each instance returns to the level beneath. This cannot be undone.`,
    action: `End ${number}`,
    icon: "ui-undo",
    tone: "danger",
  });
  if (!isWanted) return;
  await attempt(
    () => link.call("fleet", "resetFleet", {}),
    ({ ended }) => `${counted(ended, "level")} of the fleet ended`,
  );
}

async function attempt<T>(
  call: () => Promise<T>,
  said: (answer: T) => ComponentChildren,
  onFault: (message: string) => void = warningToast,
): Promise<void> {
  try {
    toast({ icon: "ui-ok", text: said(await call()) });
  } catch (error) {
    onFault(faultOf(error).message);
  }
  void readLevels();
}
