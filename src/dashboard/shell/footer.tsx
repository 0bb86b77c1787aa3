import { counted } from "../components/number.ts";
import { duration } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { application, connection, heardAt, tabs } from "../state/server.ts";

/** The state of the connection. */
export function Footer() {
  const { instance, version, nodeVersion } = application.value ?? {};
  return (
    <footer class="foot" aria-label="Connection">
      <span>
        <i class={`dot ${DOTS[connection.value.status]}`} />
        {words()}
      </span>
      <span class="t3">1 connection shared by {counted(tabs.value, "tab")}</span>
      <span class="end">
        <span>{instance}</span>
      </span>
      {version && <span>{version}</span>}
      {nodeVersion && <span>Node.js {nodeVersion}</span>}
    </footer>
  );
}

const DOTS = { connecting: "warn", live: "", offline: "bad", refused: "bad" } as const;

function words(): string {
  const state = connection.value;
  if (state.status === "live") return `Live · updated ${duration(Math.max(0, now.value - heardAt.value))} ago`;
  if (state.status === "offline") return `Offline for ${duration(now.value - state.since)}`;
  return state.status === "connecting" ? "Connecting …" : "Signed out";
}
