import { useId, useState } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { Outside, seen } from "../components/outside.tsx";
import { loggers } from "../state/loggers.ts";
import { isUnknown, nameFault, suggestions } from "./names.ts";

const MAX_SUGGESTIONS = 20;

/** The loggers to show, as tokens. Calls `onChange` with each whole choice. */
export function NamesField({
  names,
  onChange,
  onFault,
}: {
  names: readonly string[];
  onChange: (names: readonly string[]) => void;
  onFault: (fault: string | undefined) => void;
}) {
  const [text, setText] = useState("");
  const list = useId();
  const known = loggers.value;
  const add = (input: string): boolean => {
    const found = input.split(/[\s,]+/).filter((name) => name !== "");
    const fault = found.map(nameFault).find((each) => each !== undefined);
    onFault(fault);
    if (fault !== undefined) return false;
    setText("");
    if (found.length > 0) onChange([...new Set([...names, ...found])]);
    return true;
  };
  return (
    <label class="field lo-names">
      <Icon name="ui-narrow" />
      <span class="vh">Loggers</span>
      {names.map((name) => (
        <span
          key={name}
          class={isUnknown(name, known) ? "token not" : "token"}
          title={isUnknown(name, known) ? "No logger has this name yet" : undefined}
        >
          <Outside text={name} />
          <button
            type="button"
            aria-label={`Remove ${seen(name)}`}
            onClick={(event) => {
              event.preventDefault();
              onChange(names.filter((each) => each !== name));
            }}
          >
            <Icon name="ui-x" />
          </button>
        </span>
      ))}
      <input
        class="mono"
        id="lo-names"
        list={list}
        autocomplete="off"
        spellcheck={false}
        placeholder={names.length === 0 ? "all loggers, or such as knex.*" : "loggers, such as knex.*"}
        value={text}
        onInput={({ currentTarget }) => {
          const { value } = currentTarget;
          onFault(undefined);
          if (!/[\s,]$/.test(value) || !add(value)) setText(value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") add(text);
          else if (event.key === "Backspace" && text === "" && names.length > 0) onChange(names.slice(0, -1));
          else return;
          event.preventDefault();
        }}
        onBlur={() => add(text)}
      />
      <datalist id={list}>
        {text !== "" && suggestions(text, known, MAX_SUGGESTIONS).map((name) => <option key={name} value={name} />)}
      </datalist>
    </label>
  );
}
