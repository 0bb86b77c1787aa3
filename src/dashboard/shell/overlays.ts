import { h } from "preact";
import { confirmation } from "../components/confirmation.tsx";
import { counted } from "../components/number.ts";
import { openDialog } from "../state/dialog.ts";
import { restoreAllLevels } from "../state/levels.ts";
import { changed } from "../state/loggers.ts";

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

/** Restores every changed level, if the operator confirms it. */
export async function restoreAll(): Promise<void> {
  const { length } = changed.value;
  const isWanted = await confirmation({
    title: `Restore all ${counted(length, "level")}?`,
    body: "Every level that operators have changed goes back to its baseline, those that others hold included.",
    action: `Restore ${counted(length, "level")}`,
    icon: "ui-undo",
  });
  if (isWanted) await restoreAllLevels();
}
