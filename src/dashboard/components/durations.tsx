import { type Lasting, ONE_HOUR, TEN_MINUTES } from "../state/levels.ts";

const DURATIONS: readonly (readonly [Lasting, string])[] = [
  [TEN_MINUTES, "10 min"],
  [ONE_HOUR, "1 h"],
  ["tab", "until this tab closes"],
  ["permanent", "permanent"],
];

/** How long a level lasts: one of four, as radio buttons with one tab stop. */
export function Durations({
  value,
  label,
  whyNot,
  onChange,
}: {
  value: Lasting | undefined;
  label: string;
  whyNot?: string | undefined;
  onChange: (lasting: Lasting) => void;
}) {
  const stop = Math.max(
    0,
    DURATIONS.findIndex(([each]) => each === value),
  );
  const move = (event: KeyboardEvent, at: number) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (event.currentTarget as Element).parentElement?.children[
      (at + step + DURATIONS.length) % DURATIONS.length
    ];
    (next as HTMLElement).focus();
  };
  return (
    <div class="seg" role="radiogroup" aria-label={label} aria-disabled={whyNot !== undefined} title={whyNot}>
      {DURATIONS.map(([each, words], at) => (
        <button
          key={words}
          type="button"
          role="radio"
          aria-checked={each === value}
          tabIndex={at === stop ? 0 : -1}
          onKeyDown={(event) => move(event, at)}
          onClick={() => whyNot === undefined && onChange(each)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
