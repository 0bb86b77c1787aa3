import "./menu.css";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface MenuProps {
  /** The content of the button. */
  readonly children: ComponentChildren;
  /** The name of a button without words. */
  readonly label?: string | undefined;
  readonly title?: string | undefined;
  readonly look?: string;
  readonly items: readonly MenuItem[];
}

/** A choice of a menu. One with `checked` is one of several, or may be on or off. */
export interface MenuItem {
  readonly key: string;
  readonly text: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly checked?: boolean | undefined;
  /** Whether it is one of several of which one is chosen. */
  readonly isChoice?: boolean;
  readonly keepsOpen?: boolean;
  run(): void;
}

/** A button that opens a list of choices. Arrows move, Enter chooses, Esc closes. */
export function Menu({ children, label, title, look = "", items }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const close = (toButton: boolean) => {
    setOpen(false);
    if (toButton) root.current?.querySelector("button")?.focus();
  };
  const entries = () => [...(root.current?.querySelectorAll<HTMLElement>(".menu > button") ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    (entries().find((each) => each.ariaChecked === "true") ?? entries()[0])?.focus();
    const outside = ({ target }: Event) => {
      if (!root.current?.contains(target as Element)) close(false);
    };
    addEventListener("pointerdown", outside, true);
    return () => removeEventListener("pointerdown", outside, true);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) all.at(to % all.length)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close(event.key === "Escape");
    if (to === undefined && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the buttons within.
    <span class="menu-at" ref={root} onKeyDown={onKeyDown}>
      <button
        class={`btn ${look}`}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        title={title}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div class="menu" role="menu" aria-label={label ?? title}>
          {items.map((item) => (
            <button
              key={item.key}
              type="button"
              role={item.checked === undefined ? "menuitem" : item.isChoice ? "menuitemradio" : "menuitemcheckbox"}
              aria-checked={item.checked}
              tabIndex={-1}
              onClick={() => {
                if (!item.keepsOpen) close(true);
                item.run();
              }}
            >
              <span class="menu-mark">{item.checked && <Icon name="ui-check" size={12} />}</span>
              <span class="menu-text">{item.text}</span>
              {item.note !== undefined && <span class="t3 num">{item.note}</span>}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
