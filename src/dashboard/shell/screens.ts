import type { ComponentType } from "preact";
import type { Page } from "../state/route.ts";

/** What a screen exports. The frame shows its heading; the screen is everything below. */
export interface Screen {
  /** The content of `main`. */
  readonly Content: ComponentType;
  /** What stands beside the heading, such as `1,284 · 4 changed`. */
  readonly Heading?: ComponentType;
  /** Moves to the filter of the screen, if it has one. */
  focusFilter?(): void;
}

/** Each screen is loaded when it is first opened. */
export const SCREENS: Readonly<Record<Page, () => Promise<Screen>>> = {
  overview: () => import("../overview/screen.tsx"),
  loggers: () => import("../loggers/screen.tsx"),
  logs: () => import("../logs/screen.tsx"),
  sessions: () => import("../sessions/screen.tsx"),
  graph: () => import("../graph/screen.tsx"),
  fleet: () => import("../fleet/screen.tsx"),
};

export const TITLES: Readonly<Record<Page, string>> = {
  overview: "Overview",
  loggers: "Loggers",
  logs: "Logs",
  sessions: "Sessions",
  graph: "Graph",
  fleet: "Fleet",
};
