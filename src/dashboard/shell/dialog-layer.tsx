import { useLayoutEffect, useRef } from "preact/hooks";
import { closeDialog, dialog } from "../state/dialog.ts";

/** The dialog over the page, in the browser's own element: it keeps focus inside, Esc closes it, and focus returns. */
export function DialogLayer() {
  const content = dialog.value;
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = ref.current!;
    if (element.open) element.close();
    if (content !== undefined) element.showModal();
  }, [content]);
  return (
    <dialog
      ref={ref}
      class={content?.look}
      closedby={content?.look === "pal" ? "any" : "closerequest"}
      aria-label={content?.label}
      aria-labelledby={content !== undefined && content.label === undefined ? "dialog-title" : undefined}
      // Told late: another dialog may have opened since.
      onClose={() => ref.current?.open || closeDialog()}
    >
      {content?.children}
    </dialog>
  );
}
