import type { ComponentChildren } from "preact";
import { Icon } from "../components/icon.tsx";
import { clock, duration } from "../components/time.tsx";
import { now } from "../state/clock.ts";
import { openDialog } from "../state/dialog.ts";
import { setLevel } from "../state/levels.ts";
import { changed, loggers } from "../state/loggers.ts";
import { ownRaise } from "../state/own-changes.ts";
import { connection, link, serves } from "../state/server.ts";
import { restart, revokedAt } from "./incidents.ts";
import { SignInForm } from "./sign-in.tsx";

/** Short interruptions are told in the state bar only. */
export const ALERT_AFTER_MS = 5_000;

/** What an operator must know about the connection, below the top bar. */
export function Alerts() {
  return (
    <div class="alerts">
      <Connection />
      <Restarted />
    </div>
  );
}

function Connection() {
  const state = connection.value;
  if (state.status === "refused" && revokedAt.value !== undefined) {
    return (
      <Alert
        tone="bad"
        icon="ui-key"
        title="The service no longer accepts this page"
        action="Use another token"
        onAction={openSignIn}
      >
        {" "}
        since {clock(revokedAt.value)}: {state.fault.message} Levels that this tab held are restored.
      </Alert>
    );
  }
  if (state.status !== "offline") return null;
  if (state.isDraining) {
    return (
      <Alert icon="ui-clock" title="This instance is shutting down.">
        {" "}
        Levels held by tabs are restored now.
      </Alert>
    );
  }
  if (now.value - state.since < ALERT_AFTER_MS) return null;
  return (
    <Alert
      icon="ui-offline"
      title={`Offline since ${clock(state.since)}.`}
      action="Try now"
      onAction={() => link.retry()}
    >
      {" "}
      The page shows the last known state. {/* Not read out each second. */}
      <span aria-live="off">Reconnecting in {duration(Math.max(0, state.retryAt - now.value))}.</span>
    </Alert>
  );
}

function Restarted() {
  const found = restart.value;
  if (found === undefined || connection.value.status !== "live") return null;
  const close = () => {
    restart.value = undefined;
  };
  const isBaseline = serves("LoggersService") && loggers.value.isLoaded && changed.value.length === 0;
  const lost = found.raised.filter((name) => ownRaise(name) && changed.value.every((each) => each.name !== name));
  const raiseAgain = () => {
    close();
    for (const name of lost) {
      const { level, lasting, reason } = ownRaise(name)!;
      void setLevel(name, level, lasting, reason);
    }
  };
  return (
    <Alert
      tone="changed"
      icon="ui-refresh"
      title="The service restarted"
      action={lost.length > 0 ? "Raise again" : undefined}
      onAction={raiseAgain}
      onClose={close}
    >
      {" "}
      at {clock(found.at)}
      {found.version && `, now ${found.version}`}.{isBaseline && " All levels are at their baseline."}
    </Alert>
  );
}

interface AlertProps {
  readonly icon: string;
  readonly title: string;
  readonly tone?: "" | "bad" | "changed";
  readonly action?: string | undefined;
  readonly onAction?: () => void;
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}

function Alert({ icon, title, tone = "", action, onAction, onClose, children }: AlertProps) {
  return (
    <div class={`alert ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon name={icon} />
      <span>
        <strong class="med">{title}</strong>
        {children}
      </span>
      {action !== undefined && (
        <button class="btn" type="button" onClick={onAction}>
          {action}
        </button>
      )}
      {onClose !== undefined && (
        <button class="btn plain icon" type="button" aria-label="Close" onClick={onClose}>
          <Icon name="ui-x" />
        </button>
      )}
    </div>
  );
}

function openSignIn(): void {
  openDialog(<SignInForm />, { label: "Sign in" });
}
