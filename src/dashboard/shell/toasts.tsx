import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { dismissToast, type Toast, toasts } from "../state/toasts.ts";

const SHOWN_MS = 8_000;

/** The toasts, the newest below. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <ToastRow key={each.id} {...each} />
      ))}
    </div>
  );
}

function ToastRow({ id, icon, tone, text, action }: Toast) {
  const timer = useRef(0);
  const start = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => dismissToast(id), SHOWN_MS);
  };
  const wait = () => clearTimeout(timer.current);
  useEffect(() => {
    start();
    return wait;
  }, []);
  return (
    <div class="toast" onPointerEnter={wait} onPointerLeave={start} onFocusIn={wait} onFocusOut={start}>
      <Icon name={icon} class={tone === "warn" ? "is-warn" : "t3"} />
      <span>{text}</span>
      {action !== undefined && (
        <button
          class="btn"
          type="button"
          onClick={() => {
            dismissToast(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button class="btn plain icon" type="button" aria-label="Close" onClick={() => dismissToast(id)}>
        <Icon name="ui-x" />
      </button>
    </div>
  );
}
