import { toast } from "../state/toasts.ts";

/** Copies a text, and says so. Browsers offer the clipboard over HTTPS and on this machine only; elsewhere the old command does it. */
export async function copyText(text: string, said: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) copyBySelection(text);
    else await navigator.clipboard.writeText(text);
    toast({ icon: "ui-copy", text: said });
  } catch {
    toast({ icon: "ui-error", tone: "warn", text: "The browser does not let this page copy." });
  }
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "vh";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("copy");
}
