import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FleetLevel } from "../../gen/actuator/v3/fleet_pb.ts";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Scope } from "../../gen/actuator/v3/loggers_pb.ts";
import { confirmation } from "../components/confirmation.tsx";
import { DialogForm, ReasonField } from "../components/dialog-form.tsx";
import { LevelControl } from "../components/level-control.tsx";
import { warningToast } from "../components/level-toasts.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { CallError } from "../link/link.ts";
import { openDialog } from "../state/dialog.ts";
import { ONE_HOUR, TEN_MINUTES } from "../state/levels.ts";
import { link } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { runCanary } from "./canary.ts";
import { durationOf } from "./duration.ts";
import { fleet, levels } from "./model.ts";

/** Asks which level is to be set on which instances, and sets it. */
export function askToSet(): void {
  openDialog(<SetDialog />);
}

const LASTING: readonly (readonly [ms: number | undefined, words: string])[] = [
  [TEN_MINUTES, "10 min"],
  [ONE_HOUR, "1 h"],
  [undefined, "permanent"],
];

function SetDialog() {
  const [name, setName] = useState("");
  const [level, setLevel] = useState<Level>(Level.DEBUG);
  const [selector, setSelector] = useState("");
  const [lastingMs, setLasting] = useState<number | undefined>(TEN_MINUTES);
  const [reason, setReason] = useState("");
  const [first, setFirst] = useState(0);
  const all = fleet.value?.instances.filter(({ isGone }) => !isGone).length ?? 0;
  const done = () => {
    const asked = { name: name.trim(), level, selector: selector.trim(), lastingMs, reason };
    if (first > 0) runCanary({ ...asked, instances: first });
    else void setOnAll(asked);
  };
  return (
    <DialogForm title="Set a level on all instances" action={first > 0 ? "Begin the canary" : "Set it"} onDone={done}>
      <div>
        <label class="label" for="fl-name">
          Logger or group
        </label>
        <div class="field">
          <input
            id="fl-name"
            class="mono"
            required
            autofocus
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </div>
      </div>
      <div>
        <span class="label">Level</span>
        <LevelControl name={name || "the logger"} level={level} origin="configured" isWide onChoose={setLevel} />
      </div>
      <div>
        <label class="label" for="fl-on">
          On instances with these labels, such as zone=eu; empty: on all, and on those that start later
        </label>
        <div class="field">
          <input
            id="fl-on"
            class="mono"
            autocomplete="off"
            spellcheck={false}
            value={selector}
            onInput={({ currentTarget }) => setSelector(currentTarget.value)}
          />
        </div>
      </div>
      <fieldset class="fl-set">
        <legend class="label">For</legend>
        {LASTING.map(([ms, words]) => (
          <label class="check-row" key={words}>
            <input type="radio" name="fl-for" checked={ms === lastingMs} onChange={() => setLasting(ms)} /> {words}
          </label>
        ))}
      </fieldset>
      <div>
        <label class="label" for="fl-first">
          First on so many of {counted(all, "instance")}; 0: on all at once
        </label>
        <div class="field">
          <input
            id="fl-first"
            type="number"
            min={0}
            max={Math.max(0, all)}
            value={first}
            onInput={({ currentTarget }) => setFirst(Number(currentTarget.value) || 0)}
          />
        </div>
      </div>
      <ReasonField value={reason} onChange={setReason} />
    </DialogForm>
  );
}

interface Asked {
  readonly name: string;
  readonly level: Level;
  readonly selector: string;
  readonly lastingMs: number | undefined;
  readonly reason: string;
}

async function setOnAll({ name, level, selector, lastingMs, reason }: Asked): Promise<void> {
  const ttl = durationOf(lastingMs ?? 0);
  await attempt(
    () => link.call("loggers", "setLoggerLevel", { name, level, reason, ttl, scope: Scope.FLEET, fleet: { selector } }),
    <>
      The fleet has the level of <Outside class="mono" text={name} />
    </>,
  );
}

/** Ends a level of the fleet. */
export async function clearLevel({ name, selector }: FleetLevel): Promise<void> {
  await attempt(
    () => link.call("loggers", "clearLoggerLevel", { name, scope: Scope.FLEET, fleet: { selector } }),
    <>
      Ended the fleet’s level of <Outside class="mono" text={name} />
    </>,
  );
}

/** Ends every level of the fleet, after a question. */
export async function askToReset(): Promise<void> {
  const { length } = levels.peek() ?? [];
  const isWanted = await confirmation({
    title: length === 1 ? "End the level of the fleet?" : `End all ${counted(length, "level")} of the fleet?`,
    body: "Every instance goes back to the levels that it has of its own. Levels that were set on one instance alone stay.",
    action: `End ${counted(length, "level")}`,
    icon: "ui-undo",
    tone: "danger",
  });
  if (isWanted) await attempt(() => link.call("fleet", "resetFleet", {}), "Ended all levels of the fleet");
}

async function attempt(call: () => Promise<unknown>, said: ComponentChildren): Promise<void> {
  try {
    await call();
    toast({ icon: "ui-check", text: said });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    warningToast(error.fault.message);
  }
}
