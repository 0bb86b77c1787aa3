import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface ButtonProps {
  readonly onClick: () => void;
  readonly icon?: string | undefined;
  /** `main-action`, `danger`, `plain`, `icon` and other looks of `.btn`. */
  readonly look?: string | undefined;
  /** The name of a button without words. */
  readonly label?: string | undefined;
  /** Why it cannot be used now; it stays focusable, so that the reason can be read. */
  readonly whyNot?: string | undefined;
  readonly pressed?: boolean | undefined;
  readonly title?: string | undefined;
  readonly keys?: string | undefined;
  readonly children?: ComponentChildren;
}

/** A button. A disabled one shows a lock and says why. */
export function Button({ onClick, icon, look = "", label, whyNot, pressed, title, keys, children }: ButtonProps) {
  const reason = useId();
  const isDisabled = whyNot !== undefined;
  return (
    <>
      <button
        class={`btn ${look}`}
        type="button"
        aria-label={label}
        aria-pressed={pressed}
        aria-disabled={isDisabled || undefined}
        aria-describedby={isDisabled ? reason : undefined}
        aria-keyshortcuts={keys}
        title={whyNot ?? title}
        onClick={isDisabled ? undefined : onClick}
      >
        {(isDisabled || icon !== undefined) && <Icon name={isDisabled ? "ui-lock" : icon!} />}
        {children}
      </button>
      {isDisabled && (
        <span class="vh" id={reason}>
          {whyNot}
        </span>
      )}
    </>
  );
}
