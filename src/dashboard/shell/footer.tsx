import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { countdown, duration } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { application, connection, heardAt, tabs } from "../state/server.ts";
import { ALERT_AFTER_MS } from "./alerts.tsx";

/** The state of the connection. */
export function Footer() {
  const { instance, version, nodeVersion } = application.value ?? {};
  const [dot, words] = said();
  return (
    <footer class="foot" aria-label="Connection">
      <span>
        <i class={`dot ${dot}`} />
        {words}
      </span>
      {connection.value.status === "live" && (
        <span class="t3">1 connection shared by {counted(tabs.value, "tab")}</span>
      )}
      <span class="end">
        <Outside text={instance ?? ""} />
      </span>
      {version && <Outside text={version} />}
      {nodeVersion && <span>Node.js {nodeVersion}</span>}
    </footer>
  );
}

/** The look of the dot and the words. It changes with the clock, not with each message. */
function said(): readonly [dot: "" | "warn" | "bad", words: string] {
  const state = connection.value;
  const present = now.value;
  if (state.status === "connecting") return ["warn", "Connecting …"];
  if (state.status === "refused") return ["bad", "Signed out"];
  if (state.status === "live") {
    const silent = Math.max(0, present - heardAt.peek());
    return ["", `Live · updated ${silent < 10_000 ? `${(silent / 1_000).toFixed(1)} s` : duration(silent)} ago`];
  }
  const since = present - state.since;
  if (since < ALERT_AFTER_MS) return ["warn", `No update for ${duration(since)}, reconnecting …`];
  return ["bad", `Offline for ${countdown(since)}`];
}
