import { useEffect, useRef } from "preact/hooks";
import { closeDialog, dialog } from "../state/dialog.ts";

/** The dialog over the page, in the browser's own element: it keeps focus inside, and Esc closes it. */
export function DialogLayer() {
  const content = dialog.value;
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (content !== undefined && !element.current?.open) element.current?.showModal();
  }, [content]);
  if (content === undefined) return null;
  return (
    <dialog ref={element} class="dlg" onCancel={closeDialog} onClose={closeDialog}>
      {content}
    </dialog>
  );
}
