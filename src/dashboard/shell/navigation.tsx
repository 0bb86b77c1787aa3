import type { ComponentChildren } from "preact";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { activity } from "../state/activity.ts";
import { changed } from "../state/loggers.ts";
import { hrefOf, PAGES, type Page, route } from "../state/route.ts";
import { application, serves } from "../state/server.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { TITLES } from "./screens.ts";

const SERVICES: Readonly<Partial<Record<Page, string>>> = {
  loggers: "LoggersService",
  logs: "LogsService",
  sessions: "SessionsService",
  graph: "IntegrationGraphService",
};

/** The links to the screens that the application serves, with what stands out on each. */
export function Navigation() {
  const { name, instance, caller } = application.value ?? {};
  const pages = PAGES.filter((page) => SERVICES[page] === undefined || serves(SERVICES[page]));
  return (
    <nav class="nav" aria-label="Main">
      <div class="nav-app">
        <Icon name="ui-mark" />
        <div>
          <strong>
            <Outside text={name || "application"} />
          </strong>
          <small>
            <Outside text={instance ?? ""} />
          </small>
        </div>
      </div>
      <ul>
        {pages.map((page) => (
          <li key={page}>
            <a class="nav-a" href={hrefOf(page)} aria-current={route.value.page === page ? "page" : undefined}>
              <Icon name={`ui-${page}`} />
              <span class="nav-w">{TITLES[page]}</span>
              {NOTES[page]?.()}
            </a>
          </li>
        ))}
      </ul>
      <div class="nav-foot">
        <button class="nav-a" type="button" onClick={nextTheme}>
          <Icon name="ui-moon" />
          <span class="nav-w">Theme: {theme}</span>
        </button>
        {caller !== undefined && (
          <span class="nav-a">
            <Icon name="ui-user" />
            <span class="nav-w">
              <Outside text={caller.name} />
            </span>
          </span>
        )}
      </div>
    </nav>
  );
}

const NOTES: Readonly<Partial<Record<Page, () => ComponentChildren>>> = {
  loggers: () =>
    changed.value.length > 0 && <span class="nav-n is-changed">{count(changed.value.length)} changed</span>,
  sessions() {
    const { sessions } = activity.value.latest?.now ?? {};
    return sessions !== undefined && <span class="nav-n">{count(sessions)}</span>;
  },
  graph() {
    const { failingNodes } = activity.value.latest?.now ?? {};
    return failingNodes ? <span class="nav-n is-bad">{count(failingNodes)} failing</span> : null;
  },
};
