import { useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Menu, type MenuItem } from "../components/menu.tsx";
import { count } from "../components/number.ts";
import { Outside, seen } from "../components/outside.tsx";
import { isOfFleet } from "../state/graph.ts";
import { hasFleet, serves } from "../state/server.ts";
import { layout } from "./canvas.ts";
import { GROUPINGS } from "./collapse.ts";
import { groupChoices } from "./said.tsx";
import {
  adjust,
  focus,
  found,
  grouping,
  isNarrow,
  isTable,
  picture,
  query,
  selectedCard,
  selectedNode,
  show,
  subjectOf,
} from "./view.ts";

const MAX_GROUPS = 50;

/** Moves to the field that finds a node. */
export function focusFind(): void {
  document.getElementById("gr-find")?.focus();
}

/** Narrows the drawing to what is near the selected node, or ends that. */
export function toggleFocus(): void {
  if (focus.value !== undefined) show({ focus: "0" });
  else if (selectedNode.value !== undefined) show({ focus: "1" });
}

export function toggleTable(): void {
  show({ view: isTable.value ? undefined : "table" });
}

/** Find, focus, collapse, the two views, export. */
export function Toolbar() {
  const field = useRef<HTMLInputElement>(null);
  const near = focus.value;
  const matches = found.value;
  const next = (backwards: boolean) => {
    if (matches === undefined) return;
    const cards = picture.value.cards.filter(({ nodes }) => nodes.some(({ nodeId }) => matches.has(nodeId)));
    const places = layout.value?.cards;
    const ordered = cards.sort((a, b) => (places?.get(a.id)?.y ?? 0) - (places?.get(b.id)?.y ?? 0));
    const at = ordered.findIndex((card) => card.id === selectedCard.value?.id);
    const card = ordered.at((at + (backwards ? -1 : 1)) % ordered.length) ?? ordered[0];
    if (card !== undefined) show({}, subjectOf(card));
  };
  return (
    <div class="tools">
      <label class="field">
        <Icon name="ui-search" />
        <span class="vh">Find a node</span>
        <input
          id="gr-find"
          ref={field}
          type="text"
          role="searchbox"
          placeholder="Find a node"
          aria-keyshortcuts="/"
          autocomplete="off"
          spellcheck={false}
          value={query.value}
          onInput={({ currentTarget }) => adjust({ find: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter") next(event.shiftKey);
            else if (event.key === "Escape") {
              if (query.value === "") field.current?.blur();
              else adjust({ find: "" });
              event.stopPropagation();
            }
          }}
        />
        {matches !== undefined && (
          <span class="field-note" role="status">
            {matches.size === 0 ? "no node" : `${count(matches.size)} found`}
          </span>
        )}
      </label>
      <Button
        icon="ui-focus"
        pressed={near !== undefined}
        keys="f"
        title="Show only what is near the selected node (f)"
        whyNot={near === undefined && selectedNode.value === undefined ? "Select a node first" : undefined}
        onClick={toggleFocus}
      >
        <span class="word">Focus</span>
      </Button>
      {near !== undefined && (
        <div class="seg" role="group" aria-label="Links around the node">
          {["1", "2", "3"].map((depth) => (
            <button
              key={depth}
              type="button"
              aria-pressed={near.depth === Number(depth)}
              aria-label={`${depth} ${depth === "1" ? "link" : "links"} away`}
              onClick={() => show({ focus: depth })}
            >
              {depth}
            </button>
          ))}
        </div>
      )}
      {!(isNarrow.value && near !== undefined) && <CollapseMenu />}
      <div class="seg" role="group" aria-label="View">
        {[false, true].map((table) => (
          <button
            key={String(table)}
            type="button"
            aria-pressed={isTable.value === table}
            title={table ? "Table (t)" : "Drawing (t)"}
            onClick={() => isTable.value !== table && toggleTable()}
          >
            <Icon name={table ? "ui-table" : "ui-graph"} />
            <span class="word">{table ? "Table" : "Drawing"}</span>
          </button>
        ))}
      </div>
      <OfFleet />
      <ExportMenu />
    </div>
  );
}

/** Whose graph it is, if there is a choice. */
function OfFleet() {
  if (!hasFleet() || !serves("IntegrationGraphService")) return null;
  return (
    <Button
      icon="ui-fleet"
      pressed={isOfFleet.value}
      title="Show the graphs of all instances of the fleet as one"
      onClick={() => show({ of: isOfFleet.value ? undefined : "fleet" })}
    >
      <span class="word">All instances</span>
    </Button>
  );
}

function CollapseMenu() {
  const by = grouping.value;
  const choices = groupChoices();
  const closed = choices.filter(({ isCollapsed }) => isCollapsed);
  const items: MenuItem[] = [
    ...GROUPINGS.map((each) => ({
      key: `by ${each}`,
      text: `By ${each}`,
      checked: by === each,
      isChoice: true,
      keepsOpen: true,
      run: () => show({ by: each, open: "" }),
    })),
    {
      key: "none",
      text: "Nothing",
      checked: by === undefined,
      isChoice: true,
      run: () => show({ by: "none", open: "" }),
    },
    ...choices.slice(0, MAX_GROUPS).map(({ title, size, isCollapsed, change }) => ({
      key: `group ${title}`,
      text: <Outside text={title} />,
      note: count(size),
      checked: isCollapsed,
      keepsOpen: true,
      run: () => show(change),
    })),
  ];
  const words = by === undefined ? "nothing" : closed.length === 1 ? seen(closed[0]!.title) : `by ${by}`;
  return (
    <Menu items={items} title="What is collapsed" look="gr-collapse">
      <span class="t3">Collapsed:</span> <span class="cut">{words}</span>
      <Icon name="ui-down" />
    </Menu>
  );
}

const FORMATS = ["SVG", "PNG", "DOT", "Mermaid"] as const;

function ExportMenu() {
  const items = FORMATS.filter((format) => !isTable.value || (format !== "SVG" && format !== "PNG")).map((format) => ({
    key: format,
    text: format,
    note: { SVG: "the drawing", PNG: "the drawing", DOT: "Graphviz", Mermaid: "Markdown" }[format],
    run: () => void import("./export.ts").then(({ exportGraph }) => exportGraph(format)),
  }));
  return (
    <Menu
      items={items}
      label="Export as SVG, PNG, DOT or Mermaid"
      title="Export as SVG, PNG, DOT or Mermaid"
      look="icon"
    >
      <Icon name="ui-export" />
    </Menu>
  );
}
