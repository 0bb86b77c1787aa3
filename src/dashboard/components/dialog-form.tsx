import type { ComponentChildren } from "preact";
import { closeDialog } from "../state/dialog.ts";

const MAX_REASON = 1_000;

/** A question with fields in the dialog over the page: Cancel closes it, the action closes it and calls `onDone`. */
export function DialogForm({
  title,
  action,
  onDone,
  children,
}: {
  title: ComponentChildren;
  action: ComponentChildren;
  onDone: () => void;
  children: ComponentChildren;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        closeDialog();
        onDone();
      }}
    >
      <div class="dlg-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
      <div class="dlg-foot">
        <button class="btn plain" type="button" onClick={closeDialog}>
          Cancel
        </button>
        <button class="btn main-action" type="submit">
          {action}
        </button>
      </div>
    </form>
  );
}

/** Why a level is changed, for its history. */
export function ReasonField({ value, onChange }: { value: string; onChange: (reason: string) => void }) {
  return (
    <div>
      <label class="label" for="level-reason">
        Reason, shown in the history
      </label>
      <textarea
        class="area"
        id="level-reason"
        rows={2}
        maxLength={MAX_REASON}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </div>
  );
}
