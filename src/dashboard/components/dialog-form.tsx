import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { closeDialog } from "../state/dialog.ts";
import { Icon } from "./icon.tsx";
import { warningToast } from "./level-toasts.tsx";
import { Outside } from "./outside.tsx";

const MAX_REASON = 1_000;

/** What a dialog asked for: undefined if it was done, or why not. */
export type Done = string | undefined;

/** A question with fields in the dialog over the page: Cancel closes it, and so does the action once it is done. */
export function DialogForm({
  title,
  action,
  onDone,
  children,
}: {
  title: ComponentChildren;
  action: ComponentChildren;
  /** Does it. The dialog stays open with the reason if it fails, so that nothing typed is lost. */
  onDone: () => Promise<Done> | undefined;
  children: ComponentChildren;
}) {
  const [fault, setFault] = useState<Done>(undefined);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    const why = await onDone();
    // The operator may have closed it meanwhile.
    if (form.current === null) return why !== undefined && warningToast(why);
    if (why === undefined) return closeDialog();
    setBusy(false);
    setFault(why);
    form.current.querySelector<HTMLElement>("input:invalid")?.focus();
  };
  return (
    // The browser's own bubbles do not follow the theme.
    <form ref={form} noValidate onSubmit={submit}>
      <div class="dlg-body">
        <h2 id="dialog-title">{title}</h2>
        {children}
        {fault !== undefined && (
          <p class="err" role="alert">
            <Icon name="ui-error" />
            <Outside text={fault} />
          </p>
        )}
      </div>
      <div class="dlg-foot">
        <button class="btn plain" type="button" onClick={closeDialog}>
          Cancel
        </button>
        <button class="btn main-action" type="submit" aria-disabled={isBusy || undefined}>
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
