import "../styles/panes.css";
import { useState } from "preact/hooks";
import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import { openDialog } from "../state/dialog.ts";
import { type Lasting, lastingWords, levelName, setLevel } from "../state/levels.ts";
import { measurements } from "../state/measurements.ts";
import { confirmation } from "./confirmation.tsx";
import { DialogForm, type Done, ReasonField } from "./dialog-form.tsx";
import { Durations } from "./durations.tsx";
import { counted, rate } from "./number.ts";
import { Outside } from "./outside.tsx";

interface RaiseQuestion {
  readonly name: string;
  readonly level: Level;
  readonly lasting: Lasting;
  readonly followers: number;
  /** Lines a second, as measured; undefined: not measured. */
  readonly added: number | undefined;
}

/** Asks for how long and why, before a level that writes much more is set. */
export function askToRaise(question: RaiseQuestion): void {
  openDialog(<RaiseDialog {...question} />);
}

function RaiseDialog({ name, level, lasting, followers, added }: RaiseQuestion) {
  const [chosen, choose] = useState(lasting);
  const [reason, setReason] = useState("");
  const written = measurements.value.get(name)?.levels.reduce((sum, each) => sum + each.written, 0) ?? 0;
  return (
    <DialogForm
      title={
        <>
          Raise <Outside text={name} /> to {levelName(level)}?
        </>
      }
      action={`Raise ${lastingWords(chosen)}`}
      onDone={async () => {
        let fault: Done;
        await setLevel(name, level, chosen, reason, (message) => {
          fault = message;
        });
        return fault;
      }}
    >
      <p class="t2">
        {followers > 0 && `${counted(followers, "logger")} ${followers === 1 ? "follows" : "follow"}. `}
        {added === undefined ? (
          "What it would add has not been measured."
        ) : (
          <>
            Measured: {levelName(level)} adds about <strong class="med">{rate(added)} lines per second</strong> to{" "}
            {rate(written)}.
          </>
        )}
      </p>
      <div>
        <span class="label">For</span>
        <Durations label="For" value={chosen} onChange={choose} />
      </div>
      <ReasonField value={reason} onChange={setReason} />
    </DialogForm>
  );
}

/** Asks why a level was set. */
export function askForReason(name: string, onDone: (reason: string) => Promise<Done>): void {
  openDialog(<ReasonDialog name={name} onDone={onDone} />);
}

function ReasonDialog({ name, onDone }: { name: string; onDone: (reason: string) => Promise<Done> }) {
  const [reason, setReason] = useState("");
  return (
    <DialogForm
      title={
        <>
          Why was <Outside text={name} /> changed?
        </>
      }
      action="Add the reason"
      onDone={() => onDone(reason)}
    >
      <ReasonField value={reason} onChange={setReason} />
    </DialogForm>
  );
}

/** Asks before every changed level is restored; says which are held by others. */
export function askToRestoreAll(
  changed: readonly (Logger | LoggerGroup)[],
  heldHere: ReadonlyMap<string, unknown>,
): Promise<boolean> {
  const held = changed.filter(({ name, override }) => override!.held && !heldHere.has(name));
  return confirmation({
    title: changed.length === 1 ? "Restore the changed level?" : `Restore all ${counted(changed.length, "level")}?`,
    action: `Restore ${counted(changed.length, "level")}`,
    icon: "ui-undo",
    body:
      held.length === 0 ? (
        "Every level that operators have changed goes back to its baseline."
      ) : (
        <>
          This includes {held.length === 1 ? "one that another caller holds" : `${held.length} that other callers hold`}
          :{" "}
          {held.slice(0, 3).map(({ name, override }, index) => (
            <>
              {index > 0 && ", "}
              <Outside class="mono" text={name} /> (<Outside text={override!.actor || "unknown caller"} />)
            </>
          ))}
          {held.length > 3 && " …"}.
        </>
      ),
  });
}
