import "../styles/panes.css";
import "../styles/level-control.css";
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Choice } from "../components/choice.tsx";
import { DialogForm, ReasonField } from "../components/dialog-form.tsx";
import { LevelControl } from "../components/level-control.tsx";
import { openDialog } from "../state/dialog.ts";
import { levelName, ONE_HOUR, TEN_MINUTES } from "../state/levels.ts";
import { loggers } from "../state/loggers.ts";
import { runCanary } from "./canary.ts";
import { setFleetLevel } from "./changes.tsx";

interface Asked {
  readonly name?: string;
  readonly selector?: string;
  readonly isCanary?: boolean;
}

const LASTING = [
  [TEN_MINUTES, "10 min"],
  [ONE_HOUR, "1 h"],
  [0, "permanent"],
] as const;

const PROMOTE = [
  [0, "when I say so"],
  [60_000, "1 min"],
  [TEN_MINUTES, "10 min"],
] as const;

const MAX_NAMES = 500;

/** Asks for a level for the fleet, or for a canary of one. */
export function askForFleetLevel(asked: Asked = {}): void {
  openDialog(<FleetLevelDialog {...asked} />);
}

function FleetLevelDialog({ name: first = "", selector: firstSelector = "", isCanary = false }: Asked) {
  const [name, setName] = useState(first);
  const [level, setLevel] = useState<Level>(Level.DEBUG);
  const [selector, setSelector] = useState(firstSelector);
  const [instances, setInstances] = useState("1");
  const [promoteMs, setPromoteMs] = useState(0);
  const [ms, setMs] = useState<number>(TEN_MINUTES);
  const [reason, setReason] = useState("");
  const done = async () => {
    const asked = { name: name.trim(), level, selector, ms, reason };
    if (asked.name === "") return "Name a logger or a group.";
    if (!isCanary) return setFleetLevel(asked);
    if (!/^[1-9]\d{0,4}$/.test(instances)) return "Give the number of instances, such as 1.";
    return runCanary({ ...asked, instances: Number(instances), promoteMs });
  };
  return (
    <DialogForm
      title={isCanary ? "Run a canary" : "Set a level for the fleet"}
      action={isCanary ? `Begin with ${levelName(level)} on ${instances}` : `Set ${levelName(level)}`}
      onDone={done}
    >
      <Field label="Logger or group" value={name} onChange={setName} isMono required autofocus={first === ""}>
        {[...loggers.value.groups.keys(), ...loggers.value.loggers.keys()].slice(0, MAX_NAMES)}
      </Field>
      <div>
        <span class="label">Level</span>
        <LevelControl name={name || "the logger"} level={level} origin="configured" isWide onChoose={setLevel} />
      </div>
      <Field label="Instances, such as zone=eu; empty: all" value={selector} onChange={setSelector} isMono />
      {isCanary && (
        <>
          <Field label="How many of them first" value={instances} onChange={setInstances} type="number" required />
          <Choice label="Promote to all of them" options={PROMOTE} value={promoteMs} onChange={setPromoteMs} />
        </>
      )}
      <Choice label={isCanary ? "Then for" : "For"} options={LASTING} value={ms} onChange={setMs} />
      <ReasonField value={reason} onChange={setReason} />
      {isCanary && (
        <p class="t2">The canary is taken back if this tab is closed or loses its connection before it is promoted.</p>
      )}
    </DialogForm>
  );
}

function Field({
  label,
  value,
  onChange,
  isMono = false,
  type = "text",
  required = false,
  autofocus = false,
  children = [],
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  isMono?: boolean;
  type?: "text" | "number";
  required?: boolean;
  autofocus?: boolean;
  /** What can be chosen besides typing. */
  children?: readonly string[];
}): ComponentChildren {
  const id = useId();
  return (
    <div>
      <label class="label" for={id}>
        {label}
      </label>
      <span class="field">
        <input
          id={id}
          class={isMono ? "mono" : ""}
          type={type}
          min={type === "number" ? 1 : undefined}
          max={type === "number" ? 10_000 : undefined}
          maxLength={1_000}
          value={value}
          required={required}
          autofocus={autofocus}
          list={children.length > 0 ? `${id}-names` : undefined}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </span>
      {children.length > 0 && (
        <datalist id={`${id}-names`}>
          {children.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </div>
  );
}
