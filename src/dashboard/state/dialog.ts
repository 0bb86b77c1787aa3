import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** What lies over the page. */
export interface DialogContent {
  readonly children: ComponentChildren;
  /** `pal` is the palette, which a click beside it closes. */
  readonly look: "dlg" | "pal";
  /** The name, if the content has no element with the id `dialog-title`. */
  readonly label?: string | undefined;
}

/** The dialog over the page; undefined: none. Its content calls {@link closeDialog}. */
export const dialog = signal<DialogContent | undefined>(undefined);

/** Opens a dialog in place of the one that is open. Focus goes back to where it was when it closes. */
export function openDialog(
  children: ComponentChildren,
  { look = "dlg", label }: Partial<Pick<DialogContent, "look" | "label">> = {},
): void {
  dialog.value = { children, look, label };
}

export function closeDialog(): void {
  dialog.value = undefined;
}
