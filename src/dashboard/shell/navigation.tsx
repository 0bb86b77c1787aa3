import type { ComponentChildren } from "preact";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { activity } from "../state/activity.ts";
import { changed } from "../state/loggers.ts";
import { hrefOf, type Page, route } from "../state/route.ts";
import { application, titleOf } from "../state/server.ts";
import { nextTheme, theme } from "../state/theme.ts";
import { servedPages } from "./actions.ts";
import { openHelp, openPerson } from "./overlays.ts";
import { TITLES } from "./screens.ts";

/** The links to the screens that the application serves, with what stands out on each. */
export function Navigation() {
  const { instance, caller } = application.value ?? {};
  return (
    <nav class="nav" aria-label="Main">
      <div class="nav-app">
        <Icon name="ui-mark" />
        <div>
          <strong>
            <Outside text={titleOf()} />
          </strong>
          <small>
            <Outside text={instance ?? ""} />
          </small>
        </div>
      </div>
      <ul>
        {servedPages().map((page) => (
          <li key={page}>
            <a
              class="nav-a"
              href={hrefOf(page)}
              title={TITLES[page]}
              aria-current={route.value.page === page ? "page" : undefined}
            >
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
        <button class="nav-a" type="button" aria-haspopup="dialog" aria-keyshortcuts="?" onClick={openHelp}>
          <Icon name="ui-help" />
          <span class="nav-w">Keys and help</span>
          <span class="nav-n">
            <kbd>?</kbd>
          </span>
        </button>
        {caller !== undefined && (
          <button class="nav-a" type="button" aria-haspopup="dialog" onClick={openPerson}>
            <Icon name="ui-user" />
            <span class="nav-w cut">
              <Outside text={caller.name} />
            </span>
          </button>
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
