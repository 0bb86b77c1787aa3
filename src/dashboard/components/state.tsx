import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Fault } from "../link/messages.ts";
import { Icon } from "./icon.tsx";

/** What a pane shows instead of content: empty, failed, forbidden. */
export function State({
  icon,
  title,
  children,
}: {
  icon: string;
  title: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Why a pane has no content, with the next step. */
export function FaultState({ fault, what, onRetry }: { fault: Fault; what: string; onRetry?: () => void }) {
  const isForbidden = fault.code === "PERMISSION_DENIED";
  return (
    <State
      icon={isForbidden ? "ui-lock" : "ui-error"}
      title={isForbidden ? `You may not see ${what}` : `${what} cannot be read`}
    >
      <p>{fault.message}</p>
      {onRetry !== undefined && (
        <div class="btns">
          <button class="btn" type="button" onClick={onRetry}>
            Retry now
          </button>
        </div>
      )}
    </State>
  );
}

/** Grey bars for content that is under way; they appear after 200 ms, so that quick answers do not flicker. */
export function Skeleton({ what, rows = 8 }: { what: string; rows?: number }) {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 200);
    return () => clearTimeout(timer);
  }, []);
  if (!isDue) return null;
  return (
    <div class="skeleton" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, index) => (
        <div class="tr" key={index}>
          <span class={`bar ${["w40", "w60", "w40", "w80"][index % 4]}`} />
          <span class="bar w100" />
        </div>
      ))}
    </div>
  );
}
