import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { closeDialog, openDialog } from "../state/dialog.ts";
import { Icon } from "./icon.tsx";

interface Confirmation {
  /** A question: `End all 3 sessions of m.ferreira?` */
  readonly title: ComponentChildren;
  /** What will happen. */
  readonly body: ComponentChildren;
  /** Repeats verb and number: `End 3 sessions`. */
  readonly action: string;
  readonly icon?: string | undefined;
  /** `danger` for what cannot be undone: focus is on Cancel. */
  readonly tone?: "danger" | undefined;
}

/** Asks before something is done. Resolves to whether the operator wants it. */
export function confirmation(asked: Confirmation): Promise<boolean> {
  return new Promise((answer) => openDialog(<Question {...asked} answer={answer} />));
}

function Question({ title, body, action, icon, tone, answer }: Confirmation & { answer: (isWanted: boolean) => void }) {
  useEffect(() => () => answer(false), []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        answer(true);
        closeDialog();
      }}
    >
      <div class="dlg-body">
        <h2 id="dialog-title">{title}</h2>
        <div class="t2">{body}</div>
      </div>
      <div class="dlg-foot">
        <button class="btn plain" type="button" autofocus={tone === "danger"} onClick={closeDialog}>
          Cancel
        </button>
        <button class={`btn ${tone ?? "main-action"}`} type="submit" autofocus={tone !== "danger"}>
          {icon !== undefined && <Icon name={icon} />}
          {action}
        </button>
      </div>
    </form>
  );
}
