import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import { type Term, termsOf } from "./filter.ts";
import { address, filterText, shownRows, theTree } from "./model.ts";

const ID = "logger-filter";

export function focusFilter(): void {
  document.getElementById(ID)?.focus();
}

/** The filter: globs and exclusions become tokens, and what is typed filters at once. */
export function FilterField() {
  const typed = useSignal<string | undefined>(undefined);
  const written = useRef<string | undefined>(undefined);
  const terms = termsOf(filterText.value);
  // What comes with the address is tokens as a whole, except for the last plain word.
  if (written.current !== filterText.value) typed.value = undefined;
  const open = typed.value ?? (terms.length > 0 && !isToken(terms.at(-1)!) ? terms.at(-1)!.text : "");
  const openTerms = termsOf(open).length;
  const tokens = terms.slice(0, terms.length - openTerms);
  const apply = (texts: readonly string[], text: string) => {
    typed.value = text;
    const filter = [...texts, text.trim()].filter((each) => each !== "").join(" ");
    written.current = filter;
    address({ filter });
  };
  const texts = tokens.map(({ text }) => text);
  return (
    <label class="field">
      <Icon name="ui-narrow" />
      <span class="vh">Filter by name</span>
      {tokens.map(({ text, isExcluding }, index) => (
        <span class={isExcluding ? "token not" : "token"} key={`${index} ${text}`}>
          <bdi class="cut">{seen(text)}</bdi>
          <button
            type="button"
            aria-label={`Remove ${seen(text)}`}
            onClick={(event) => {
              event.preventDefault();
              apply(
                texts.filter((_, each) => each !== index),
                open,
              );
              focusFilter();
            }}
          >
            <Icon name="ui-x" />
          </button>
        </span>
      ))}
      <input
        id={ID}
        class="mono"
        placeholder={tokens.length > 0 ? "more …" : "Filter: payment, shop.orders.**, !*.http"}
        autocomplete="off"
        spellcheck={false}
        value={open}
        aria-describedby="logger-filter-note"
        onInput={({ currentTarget: { value } }) => {
          const [done, rest] = /^(.*[\s,])(.*)$/s.exec(value)?.slice(1) ?? ["", value];
          apply([...texts, ...termsOf(done!).map(({ text }) => text)], rest!);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && open.trim() !== "") apply([...texts, open.trim()], "");
          else if (event.key === "Backspace" && open === "" && texts.length > 0)
            apply(texts.slice(0, -1), texts.at(-1)!);
          else if (event.key === "Escape") {
            if (open === "") event.currentTarget.blur();
            else apply(texts, "");
          } else if (event.key === "ArrowDown") document.querySelector<HTMLElement>('.lg-grid [tabindex="0"]')?.focus();
          else return;
          event.preventDefault();
        }}
      />
      <span class="field-note" id="logger-filter-note" aria-live="polite">
        {filterText.value === "" ? "" : `${count(shownRows.value.counts.all)} of ${count(theTree().size)}`}
      </span>
    </label>
  );
}

function isToken({ isGlob, isExcluding }: Term): boolean {
  return isGlob || isExcluding;
}
