import { askAndRestoreAll } from "../state/levels.ts";
import { changed, isFleetReader } from "../state/loggers.ts";
import { go, PAGES, type Page } from "../state/route.ts";
import { application, hasFleet, may, serves } from "../state/server.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { openHelp, openPerson } from "./overlays.ts";
import { TITLES } from "./screens.ts";

/** Something to do, in the palette. */
export interface Action {
  readonly label: string;
  readonly icon: string;
  readonly keys?: string;
  /** The number of levels that it concerns. */
  readonly count?: number;
  run(): void;
}

const SERVICES: Readonly<Partial<Record<Page, string>>> = {
  loggers: "LoggersService",
  logs: "LogsService",
  sessions: "SessionsService",
  graph: "IntegrationGraphService",
};

/** The keys that go to the screens, after `g`. */
export const PAGE_KEYS: Readonly<Record<Page, string>> = {
  overview: "o",
  loggers: "l",
  logs: "t",
  sessions: "s",
  graph: "g",
  fleet: "f",
};

/** The screens whose part the application serves. */
export function servedPages(): Page[] {
  return PAGES.filter((page) => {
    if (page === "fleet") return hasFleet();
    // A fleet has the graph of its instances.
    if (page === "graph" && hasFleet()) return true;
    return SERVICES[page] === undefined || serves(SERVICES[page]);
  });
}

/** What can be done from every screen. */
export function actions(): Action[] {
  const { length: count } = changed.value;
  const found: Action[] = servedPages().map((page) => ({
    label: `Go to ${TITLES[page]}`,
    icon: `ui-${page}`,
    keys: `g ${PAGE_KEYS[page]}`,
    run: () => go(page),
  }));
  if (count > 0 && may("loggers:write")) {
    const label = isFleetReader.value ? "End all levels of the fleet" : "Restore all changed levels";
    found.unshift({ label, icon: "ui-undo", count, run: askAndRestoreAll });
  }
  found.push(
    { label: `Change the theme: ${theme.value}`, icon: "ui-moon", run: nextTheme },
    { label: "Keys and help", icon: "ui-help", keys: "?", run: openHelp },
  );
  if (application.value?.caller !== undefined) {
    found.push({ label: "You and your permissions, sign out", icon: "ui-user", run: openPerson });
  }
  return found;
}
