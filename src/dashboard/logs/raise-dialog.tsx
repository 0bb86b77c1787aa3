import { useState } from "preact/hooks";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import { Choice } from "../components/choice.tsx";
import { DialogForm, ReasonField } from "../components/dialog-form.tsx";
import { Outside } from "../components/outside.tsx";
import { openDialog } from "../state/dialog.ts";
import { levelName, ONE_HOUR, TEN_MINUTES } from "../state/levels.ts";
import type { RaiseRequest } from "./tail.ts";

const LEVELS = [Level.DEBUG, Level.TRACE].map((level) => [level, levelName(level)] as const);
const TIMES = [
  [TEN_MINUTES, "10 min"],
  [ONE_HOUR, "1 h"],
  [undefined, "until this tail closes"],
] as const;
const MAX_NAMES = 3;

/** Asks before the level is raised on these loggers. Calls `onRaise` if the operator wants it. */
export function askToRaise(
  names: readonly string[],
  level: Level | undefined,
  onRaise: (raise: RaiseRequest) => void,
): void {
  openDialog(<RaiseDialog names={names} proposed={level ?? Level.DEBUG} onRaise={onRaise} />);
}

function RaiseDialog({
  names,
  proposed,
  onRaise,
}: {
  names: readonly string[];
  proposed: Level;
  onRaise: (raise: RaiseRequest) => void;
}) {
  const [level, setLevel] = useState<Level>(proposed);
  const [ttlMs, setTtl] = useState<number | undefined>(TEN_MINUTES);
  const [onlyHere, setOnlyHere] = useState(false);
  const [reason, setReason] = useState("");
  return (
    <DialogForm
      title={
        <>
          Raise <Names names={names} /> to {levelName(level)}?
        </>
      }
      action={`Raise to ${levelName(level)}`}
      onDone={() => {
        onRaise({ level, ttlMs, onlyHere, reason });
        return undefined;
      }}
    >
      <p class="t2">
        The level is restored when this tail closes, and at once if it makes too many records. Levels that let more
        through already stay.
      </p>
      <Choice label="Level" options={LEVELS} value={level} onChange={setLevel} />
      <Choice label="For" options={TIMES} value={ttlMs} onChange={setTtl} />
      <label class="check-row">
        <input
          type="checkbox"
          checked={onlyHere}
          onChange={({ currentTarget }) => setOnlyHere(currentTarget.checked)}
        />{" "}
        Show the additional records only here, not in the application’s own logs
      </label>
      <ReasonField value={reason} onChange={setReason} />
    </DialogForm>
  );
}

/** The names of a choice, in words. */
export function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <>all loggers</>;
  return (
    <>
      {names.slice(0, MAX_NAMES).map((name, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <Outside class="mono" text={name} />
        </span>
      ))}
      {names.length > MAX_NAMES && ` and ${names.length - MAX_NAMES} more`}
    </>
  );
}
