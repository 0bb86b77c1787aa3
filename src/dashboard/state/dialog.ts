import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** The dialog that lies over the page; undefined: none. Its content calls {@link closeDialog}. */
export const dialog = signal<ComponentChildren | undefined>(undefined);

let returnTo: Element | null = null;

/** Opens a dialog; focus goes back to where it was when it closes. */
export function openDialog(content: ComponentChildren): void {
  if (dialog.value === undefined) returnTo = document.activeElement;
  dialog.value = content;
}

export function closeDialog(): void {
  dialog.value = undefined;
  if (returnTo instanceof HTMLElement) returnTo.focus();
  returnTo = null;
}
