import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** A short message at the bottom left. It stays for eight seconds, longer under the pointer or with focus. */
export interface Toast {
  readonly id: number;
  /** A symbol, such as `ui-undo`. */
  readonly icon: string;
  /** `warn` for what went wrong. */
  readonly tone?: "warn" | undefined;
  readonly text: ComponentChildren;
  readonly action?: { readonly label: string; run(): void } | undefined;
}

const MAX_TOASTS = 4;
let nextId = 1;

export const toasts = signal<readonly Toast[]>([]);

/** Shows a toast; the oldest gives way if there are too many. */
export function toast(message: Omit<Toast, "id">): void {
  toasts.value = [...toasts.value, { ...message, id: nextId++ }].slice(-MAX_TOASTS);
}

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}
