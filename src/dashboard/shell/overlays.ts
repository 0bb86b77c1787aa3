import { h } from "preact";
import { openDialog } from "../state/dialog.ts";

// Each is loaded when it is first opened.

/** `focusFilter` is that of the screen below. */
export async function openPalette(focusFilter: (() => void) | undefined): Promise<void> {
  const { Palette } = await import("./palette.tsx");
  openDialog(h(Palette, { focusFilter }), { look: "pal", label: "Find" });
}

export async function openHelp(): Promise<void> {
  openDialog(h((await import("./help.tsx")).Help, {}));
}

export async function openPerson(): Promise<void> {
  openDialog(h((await import("./person.tsx")).Person, {}));
}
