import type { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import { type Lasting, lastingWords, levelName } from "../state/levels.ts";
import { type Toast, toast } from "../state/toasts.ts";
import { counted } from "./number.ts";
import { Outside } from "./outside.tsx";

/** What was changed. */
export interface DoneChange {
  readonly name: string;
  readonly does: "set" | "inherit" | "restore";
  readonly level: Level;
  readonly lasting?: Lasting;
  /** The level without the change. */
  readonly base: Level;
  readonly after: Logger | LoggerGroup | undefined;
  readonly undo: (() => void) | undefined;
  /** Adds a reason. */
  readonly explain: (() => void) | undefined;
}

/** Says what was changed, with a way back. */
export function changeToast({ name, does, level, lasting, base, after, undo, explain }: DoneChange): void {
  const now = after !== undefined && "effectiveLevel" in after ? levelName(after.effectiveLevel) : "";
  const did = {
    set: `${level > base ? "raised" : "set"} to ${levelName(level)} ${lastingWords(lasting ?? "permanent")}`,
    inherit: `inherits again${now && `: ${now}`}`,
    restore: now === "" ? "restored" : `restored to ${now}`,
  };
  toast({
    icon: does === "set" ? "ui-ok" : "ui-undo",
    text: (
      <>
        <Outside class="mono" text={name} /> {did[does]}
        {does === "set" && level > base && explain !== undefined && (
          <>
            {" "}
            <button class="btn plain" type="button" onClick={explain}>
              Add a reason
            </button>
          </>
        )}
      </>
    ),
    action: undo === undefined ? undefined : { label: "Undo", run: undo },
  });
}

export function restoredAllToast(restored: number): void {
  toast({ icon: "ui-undo", text: `${counted(restored, "level")} restored` });
}

/** What went wrong, or not as far as it should, in the words of the server. */
export function warningToast(text: string, action?: Toast["action"]): void {
  toast({ icon: "ui-warning", tone: "warn", text: <Outside text={text} />, action });
}
