import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { countdown, msOf } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { changed } from "../state/loggers.ts";
import { hrefOf } from "../state/route.ts";
import { openPalette } from "./overlays.ts";
import type { Screen } from "./screens.ts";

/** The heading of the screen, the way to find anything, and what operators have changed. */
export function TopBar({ title, screen }: { title: string; screen: Screen | undefined }) {
  return (
    <header class="top">
      <span class="top-app">
        <Icon name="ui-mark" />
      </span>
      <h1>{title}</h1>
      {screen?.Heading !== undefined && <screen.Heading />}
      <button
        class="top-find"
        type="button"
        aria-keyshortcuts="/"
        aria-haspopup="dialog"
        onClick={() => openPalette(screen?.focusFilter)}
      >
        <Icon name="ui-search" />
        <span>Find a logger, user, node …</span>
        <kbd>/</kbd>
      </button>
      <ChangedChip />
    </header>
  );
}

/** On every screen: how many levels operators have changed, and when the next expires. */
function ChangedChip() {
  const { length } = changed.value;
  if (length === 0) return null;
  const { setTime, expireTime } = changed.value[0]!.override!;
  const left = expireTime && msOf(expireTime) - now.value;
  const whole = expireTime && setTime && msOf(expireTime) - msOf(setTime);
  return (
    <a class="over top-changed" href={hrefOf("overview")} title={`Operators have changed ${count(length)} levels`}>
      <svg class="ring" viewBox="0 0 12 12" aria-hidden="true">
        <circle cx="6" cy="6" r="4.5" />
        <circle
          cx="6"
          cy="6"
          r="4.5"
          pathLength={100}
          stroke-dasharray={`${left && whole ? Math.round((100 * left) / whole) : 100} 100`}
        />
      </svg>
      <span class="top-changed-w">
        {count(length)} changed{left !== undefined && " ·"}
      </span>
      {left !== undefined && ` ${countdown(left)}`}
      {left !== undefined && <span class="vh"> until the next expires</span>}
    </a>
  );
}
