import { h } from "preact";
import { openDialog } from "../state/dialog.ts";

// Each is loaded when it is first opened.

let palette: typeof import("./palette.tsx") | undefined;

/** `focusFilter` is that of the screen below. */
export async function openPalette(focusFilter: (() => void) | undefined): Promise<void> {
  // At once from the second time on: even an import that is complete may take longer than the next key, which is meant for the palette.
  const { Palette } = palette ?? (palette = await import("./palette.tsx"));
  openDialog(h(Palette, { focusFilter }), { look: "pal", label: "Find" });
}

export async function openHelp(): Promise<void> {
  openDialog(h((await import("./help.tsx")).Help, {}));
}

export async function openPerson(): Promise<void> {
  openDialog(h((await import("./person.tsx")).Person, {}));
}
