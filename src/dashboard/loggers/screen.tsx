import "../styles/panes.css";
import "../styles/level-control.css";
import "../styles/loggers.css";
import "./screen.css";
import { Button } from "../components/button.tsx";
import { Forbidden } from "../components/forbidden.tsx";
import { Icon } from "../components/icon.tsx";
import { count } from "../components/number.ts";
import { seen } from "../components/outside.tsx";
import { FaultState, Skeleton, State } from "../components/state.tsx";
import { type KeyTable, useKeys } from "../shell/keys.ts";
import { askAndRestoreAll, chooseLevel, inheritLevel, LEVELS, restoreLevel } from "../state/levels.ts";
import { changed, isFleetReader, loggers } from "../state/loggers.ts";
import { hrefOf, route } from "../state/route.ts";
import { whyNot } from "../state/server.ts";
import { Details, toggleTail } from "./details.tsx";
import { closestName, termsOf } from "./filter.ts";
import { FilterField, focusFilter } from "./filter-field.tsx";
import { HistoryPage } from "./history.tsx";
import { measure } from "./measure.ts";
import { address, filterText, isFlat, only, select, selected, shownRows, theTree } from "./model.ts";
import type { Only } from "./rows.ts";
import { activeRow, moveRow, TreeGrid } from "./tree-grid.tsx";

export { focusFilter };

/** How many loggers there are, and how many are changed. */
export function Heading() {
  const { loggers: all, isLoaded } = loggers.value;
  if (!isLoaded) return null;
  const { length } = changed.value;
  return (
    <span class="t3 s12 nowrap">
      {count(all.size)}
      {length > 0 && ` · ${count(length)} changed`}
    </span>
  );
}

/** The loggers, and beside them everything about the selected one. */
export function Content() {
  const { isLoaded, fault } = loggers.value;
  useKeys(KEYS);
  if (fault?.code === "PERMISSION_DENIED") {
    return <Forbidden title="You may not list loggers" to="list loggers" permission="loggers:read" />;
  }
  if (fault !== undefined) return <FaultState fault={fault} what="loggers" />;
  if (!isLoaded) return <Skeleton what="loggers" />;
  const name = selected.value;
  const { params } = route.value;
  if (params.has("history")) {
    return (
      <HistoryPage
        name={name}
        stamp={loggers.value.revision}
        onClose={() => address({ history: undefined }, { isStep: true })}
      />
    );
  }
  return (
    <div class={`split lg${name === "" ? " lg-alone" : ""}${params.has("details") ? " lg-detailed" : ""}`}>
      <section class="pane" aria-label="Loggers">
        <Tools />
        {shownRows.value.rows.length === 0 ? (
          <NothingMatches />
        ) : (
          <div class="scroll" tabIndex={-1} role="region" aria-label="Loggers, scrolls">
            <TreeGrid />
          </div>
        )}
        <Legend />
      </section>
      {name !== "" && <Details name={name} />}
    </div>
  );
}

const WHICH: readonly (readonly [Only, string])[] = [
  ["all", "All"],
  ["configured", "Configured"],
  ["changed", "Changed"],
];

function Tools() {
  const { counts } = shownRows.value;
  const { length } = changed.value;
  return (
    <div class="tools">
      <FilterField />
      <div class="seg" role="group" aria-label="Which">
        {WHICH.map(([each, word]) => (
          <button
            key={each}
            type="button"
            aria-pressed={only.value === each}
            onClick={() => address({ only: each === "all" ? undefined : each })}
          >
            {word} <span class="t3">{count(counts[each])}</span>
          </button>
        ))}
      </div>
      <div class="seg" role="group" aria-label="View">
        <button
          type="button"
          aria-pressed={!isFlat.value}
          aria-label="Tree"
          title="Tree"
          onClick={() => address({ view: undefined })}
        >
          <Icon name="ui-tree" />
        </button>
        <button
          type="button"
          aria-pressed={isFlat.value}
          aria-label="List"
          title="List"
          onClick={() => address({ view: "list" })}
        >
          <Icon name="ui-list" />
        </button>
      </div>
      <span class="end lg-right">
        <a
          class="btn plain icon"
          href={hrefOf("loggers", "", { history: "1" })}
          aria-label="History of all loggers"
          title="History of all loggers"
        >
          <Icon name="ui-history" />
        </a>
        {length > 0 && (
          <span class="lg-all">
            <Button
              icon="ui-undo"
              keys="Shift+B"
              whyNot={whyNot("loggers:write")}
              onClick={() => void askAndRestoreAll()}
            >
              {isFleetReader.value ? "End all of the fleet" : `Restore all ${count(length)}`}
            </Button>
          </span>
        )}
      </span>
    </div>
  );
}

function NothingMatches() {
  const text = filterText.value;
  if (text === "") {
    return (
      <State
        icon="ui-narrow"
        title={only.value === "changed" ? "No level is changed" : "No logger has a level of its own"}
      >
        <p>
          {only.value === "changed"
            ? "All levels are at their baseline."
            : `${count(theTree().size)} loggers are known.`}
        </p>
        <div class="btns">
          <button class="btn" type="button" onClick={() => address({ only: undefined })}>
            Show all
          </button>
        </div>
      </State>
    );
  }
  const wanted = termsOf(text).filter(({ isExcluding }) => !isExcluding);
  const close = closestName(wanted.map((each) => each.text).join(" "), loggers.value.loggers.keys());
  const single = wanted.length === 1 && !wanted[0]!.isGlob ? wanted[0]!.text : undefined;
  return (
    <State icon="ui-narrow" title={<>No logger matches {seen(text.slice(0, 200))}</>}>
      <p>
        {count(theTree().size)} loggers are known.
        {close !== undefined && (
          <>
            {" "}
            Close to it:{" "}
            <a class="mono" href={hrefOf("loggers", close)}>
              {seen(close)}
            </a>
            .
          </>
        )}{" "}
        {single !== undefined &&
          "A level may also be set for a name that does not exist yet; it applies when the logger appears."}
      </p>
      <div class="btns">
        <button class="btn" type="button" onClick={() => address({ filter: undefined, only: undefined })}>
          Clear the filter
        </button>
        {single !== undefined && (
          <button class="btn plain" type="button" onClick={() => select(single, { filter: undefined })}>
            Set a level for this name
          </button>
        )}
      </div>
    </State>
  );
}

function Legend() {
  return (
    <p class="lg-legend">
      <span>
        <i class="lg-k inh">INFO</i>inherited
      </span>
      <span>
        <i class="lg-k con">INFO</i>configured
      </span>
      <span>
        <i class="lg-k chg">DEBUG</i>changed
      </span>
      <span>
        <i class="lg-k via">DEBUG</i>inherits a change
      </span>
      <span>
        <i class="lg-k tick" />
        returns to
      </span>
    </p>
  );
}

/** Keys act on the row that has focus, or, from elsewhere, on the selected logger: never on one that nothing points at. */
function target(): string | undefined {
  const isInGrid = document.activeElement?.closest(".lg-grid") != null;
  return isInGrid ? activeRow().name : selected.peek() || undefined;
}

const on = (act: (name: string) => void) => (event: KeyboardEvent) => {
  if (event.repeat) return;
  const name = target();
  if (name !== undefined) act(name);
};

const KEYS: KeyTable = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  ArrowDown: () => moveRow(1),
  ArrowUp: () => moveRow(-1),
  Escape: () => (selected.peek() === "" ? false : select("")),
  0: on((name) => void inheritLevel(name)),
  b: on((name) => void restoreLevel(name)),
  B: () => void askAndRestoreAll(),
  m: on((name) => {
    if (selected.peek() !== name) select(name);
    if (whyNot("loggers:write") === undefined) measure(name);
  }),
  t: on((name) => (selected.peek() === name ? toggleTail() : select(name, { tail: "1" }))),
  h: on((name) => select(name, { history: "1" })),
  ...Object.fromEntries(LEVELS.map((level, index) => [index + 1, on((name) => void chooseLevel(name, level))])),
};
