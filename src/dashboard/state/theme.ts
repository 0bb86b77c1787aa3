import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "connect-actuator.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The theme, kept by the browser. */
export const theme = signal<Theme>(THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system");

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(KEY, theme.value);
});

/** System, light, dark, and again. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
}
