import { Icon } from "../components/icon.tsx";
import { clock, duration } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { connection, link } from "../state/server.ts";

/** What an operator must know about the connection, below the top bar. */
export function Alerts() {
  const state = connection.value;
  if (state.status !== "offline" || now.value - state.since < 5_000) return null;
  return (
    <div class="alert" role="status">
      <Icon name="ui-offline" />
      <span>
        <strong class="med">Offline since {clock(state.since)}.</strong> The page shows the last known state.
        Reconnecting in {duration(Math.max(0, state.retryAt - now.value))}.
      </span>
      <button class="btn" type="button" onClick={() => link.retry()}>
        Try now
      </button>
    </div>
  );
}
