import { useId } from "preact/hooks";

/** One of a few, as a row of buttons. */
export function Choice<T>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly (readonly [value: T, words: string])[];
  value: T;
  onChange: (value: T) => void;
}) {
  const id = useId();
  const at = options.findIndex(([each]) => each === value);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + options.length) % options.length;
    onChange(options[next]![0]);
    ((event.currentTarget as HTMLElement).children[next] as HTMLElement).focus();
  };
  return (
    <div>
      <span class="label" id={id}>
        {label}
      </span>
      <div class="seg" role="radiogroup" aria-labelledby={id} onKeyDown={onKeyDown}>
        {options.map(([each, words]) => (
          <button
            key={words}
            type="button"
            role="radio"
            aria-checked={each === value}
            tabIndex={each === value ? 0 : -1}
            onClick={() => onChange(each)}
          >
            {words}
          </button>
        ))}
      </div>
    </div>
  );
}
