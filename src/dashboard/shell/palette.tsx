import "../styles/palette.css";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { Icon } from "../components/icon.tsx";
import { LevelWord } from "../components/level-word.tsx";
import { Marked } from "../components/marked.tsx";
import { counted } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { PatternIcon } from "../components/pattern-icon.tsx";
import { closeDialog } from "../state/dialog.ts";
import { graph, watchGraph } from "../state/graph.ts";
import { changed, loggers } from "../state/loggers.ts";
import { go } from "../state/route.ts";
import { may, serves } from "../state/server.ts";
import { type Action, actions } from "./actions.ts";
import { bestNames } from "./finding.ts";

const MAX_OF_A_KIND = 8;

interface Row {
  readonly kind: string;
  readonly icon: ComponentChildren;
  readonly label: ComponentChildren;
  readonly end?: ComponentChildren;
  run(): void;
}

/** Finds loggers, users and things to do. `/` in the empty field moves to the filter of the screen. */
export function Palette({ focusFilter }: { focusFilter: (() => void) | undefined }) {
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const trimmed = text.trim();
  const rows = useMemo(() => found(trimmed), [trimmed, loggers.value, graph.value.nodes]);
  const active = Math.min(index, rows.length - 1);

  useEffect(() => (serves("IntegrationGraphService") && may("graph:read") ? watchGraph() : undefined), []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const run = (row: Row | undefined) => {
    if (row === undefined) return;
    closeDialog();
    row.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && rows.length > 0) setIndex((active + step + rows.length) % rows.length);
    else if (event.key === "Enter" && !event.isComposing) run(rows[active]);
    else if (event.key === "/" && text === "" && focusFilter !== undefined) {
      closeDialog();
      // The dialog gives focus back first.
      setTimeout(focusFilter);
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="pal-in">
        <Icon name="ui-search" />
        <input
          autofocus
          aria-label="Find anything"
          role="combobox"
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={id}
          aria-activedescendant={rows.length === 0 ? undefined : `${id}-${active}`}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="Find anything"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setIndex(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="pal-list" id={id} ref={list} role="listbox" aria-label="Results">
        {rows.map((row, at) => (
          <>
            {row.kind !== rows[at - 1]?.kind && (
              <div role="presentation" class="pal-h">
                {row.kind}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys. */}
            <div
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === active}
              onClick={() => run(row)}
              onPointerMove={() => at !== active && setIndex(at)}
            >
              {row.icon}
              <span class="cut">{row.label}</span>
              {row.end && <span class="end">{row.end}</span>}
            </div>
          </>
        ))}
      </div>
      <p class="pal-none t2" role="status">
        {rows.length === 0 && "Nothing is known by this name."}
      </p>
    </>
  );
}

/** What a text finds; without one, what operators have changed and what can be done. */
function found(text: string): Row[] {
  const { loggers: all, groups } = loggers.value;
  const names =
    text === ""
      ? changed.value.slice(0, MAX_OF_A_KIND).map(({ name }) => name)
      : bestNames([...groups.keys(), ...all.keys()], text, MAX_OF_A_KIND);
  const rows: Row[] = names.map((name) => {
    const known = all.get(name);
    return {
      kind: "Loggers",
      icon: <Icon name={groups.has(name) ? "ui-groups" : "ui-loggers"} />,
      label: <Marked class="mono" whole={name} text={text} />,
      end: known && <LevelWord level={known.effectiveLevel} />,
      run: () => go("loggers", name),
    };
  });
  if (text !== "" && serves("SessionsService") && may("sessions:list")) {
    rows.push({
      kind: "Users",
      icon: <Icon name="ui-sessions" />,
      label: (
        <>
          Sessions of <Outside text={text} />
        </>
      ),
      run: () => go("sessions", text),
    });
  }
  rows.push(...nodesOf(text));
  const first = text === "" ? undefined : names[0];
  if (first !== undefined && serves("LogsService") && may("logs:read")) {
    rows.push({
      kind: "Do",
      icon: <Icon name="ui-logs" />,
      label: (
        <>
          Tail <Outside class="mono" text={first} /> at DEBUG
        </>
      ),
      run: () => go("logs", "", { names: first, raise: "DEBUG" }),
    });
  }
  const doable = actions().filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  return [...rows, ...doable.slice(0, MAX_OF_A_KIND).map((each) => rowOf(each, text))];
}

/** Nodes have names that are not unique, so each is found by its key. */
function nodesOf(text: string): Row[] {
  if (text === "") return [];
  const byName = new Map<string, Node[]>();
  for (const node of graph.value.nodes.values()) byName.set(node.name, [...(byName.get(node.name) ?? []), node]);
  return bestNames(byName.keys(), text, MAX_OF_A_KIND)
    .flatMap((name) => byName.get(name)!)
    .slice(0, MAX_OF_A_KIND)
    .map(({ name, key, integrationPatternType: pattern }) => ({
      kind: "Graph",
      icon: <PatternIcon pattern={pattern} />,
      label: <Marked whole={name} text={text} />,
      end: pattern.replaceAll("_", " "),
      run: () => go("graph", key),
    }));
}

function rowOf({ label, icon, keys, count, run }: Action, text: string): Row {
  const end = keys ? keys.split(" ").map((key) => <kbd>{key}</kbd>) : count && counted(count, "level");
  return { kind: "Do", icon: <Icon name={icon} />, label: <Marked whole={label} text={text} />, end, run };
}
