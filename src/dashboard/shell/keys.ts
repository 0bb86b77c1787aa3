import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/**
 * What keys do. A key has its name in `KeyboardEvent.key`: a letter with Shift is a capital, the space bar is `Space`, and two keys one after
 * the other have a space between: `j`, `B`, `ArrowDown`, `g o`. A function that returns false leaves the key to others and the browser.
 */
export type KeyTable = Readonly<Record<string, (event: KeyboardEvent) => unknown>>;

interface Entry {
  readonly table: { readonly current: KeyTable };
  readonly isInDialog: boolean;
}

const STORED = "connect-actuator.keys";
/** How long the second key of a sequence may take. */
const SEQUENCE_MS = 1_500;
const TYPING = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const PRESSED = "button, a[href], summary, input";

/** Whether keys of one character do anything. They disturb dictation, so operators can switch them off (WCAG 2.1.4). */
export const areKeysOn = signal(localStorage.getItem(STORED) !== "off");

export function switchKeys(areOn: boolean): void {
  areKeysOn.value = areOn;
  if (areOn) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, "off");
}

const entries: Entry[] = [];
let first = { key: "", at: 0 };

/**
 * Keys that work while the component is mounted, those of the newest component first. They do nothing while the operator types, with Ctrl,
 * Alt or Meta, or below a dialog; a component in a dialog says `{ isInDialog: true }`.
 */
export function useKeys(table: KeyTable, { isInDialog = false }: { readonly isInDialog?: boolean } = {}): void {
  const newest = useRef(table);
  newest.current = table;
  useEffect(() => {
    const entry = { table: newest, isInDialog };
    entries.unshift(entry);
    return () => {
      entries.splice(entries.indexOf(entry), 1);
    };
  }, [isInDialog]);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest(TYPING) !== null) return;
  if ((event.key === " " || event.key === "Enter") && target.closest(PRESSED) !== null) return;
  if (event.key.length === 1 && !areKeysOn.value) return;
  const key = nameOf(event);
  const sequence = event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : undefined;
  first = { key: "", at: 0 };
  const isBelowDialog = document.querySelector("dialog[open]") !== null;
  const tables = entries.filter((each) => each.isInDialog || !isBelowDialog).map((each) => each.table.current);
  const found = (sequence && act(tables, sequence, event)) || act(tables, key, event);
  if (found) event.preventDefault();
  else if (tables.some((table) => Object.keys(table).some((name) => name.startsWith(`${key} `)))) {
    first = { key, at: event.timeStamp };
  }
});

function act(tables: readonly KeyTable[], name: string, event: KeyboardEvent): boolean {
  return tables.some((table) => table[name] !== undefined && table[name](event) !== false);
}

/** Caps Lock does not make a capital of a letter. */
function nameOf({ key, shiftKey }: KeyboardEvent): string {
  if (key === " ") return "Space";
  if (!/^\p{L}$/u.test(key)) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}
