import { useEffect, useRef } from "preact/hooks";
import type { Link, Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { PatternIcon } from "../components/pattern-icon.tsx";
import { graph } from "../state/graph.ts";
import { messagesOf, wayOf } from "./model.ts";
import { adjust, failing, found, hrefWith, rateOf, selectedNode, shownNodes, sort, symbolOf } from "./view.ts";
import { patternWords, perSecond, took } from "./words.ts";

const MAX_LINKS = 12;

interface Column {
  readonly key: string;
  readonly title: string;
  readonly isNumber?: boolean;
  /** Less comes first. */
  compare?(a: Node, b: Node): number;
}

const byText = (text: (node: Node) => string) => (a: Node, b: Node) => text(a).localeCompare(text(b), "en");
const failedOf = ({ nodeId }: Node) => failing.value.get(nodeId) ?? 0;
const meanOf = ({ sendTimers }: Node) => sendTimers?.successes?.mean ?? 0;

const COLUMNS: readonly Column[] = [
  { key: "node", title: "Node", compare: byText(({ name }) => name) },
  { key: "pattern", title: "Pattern", compare: byText(patternWords) },
  { key: "rate", title: "Rate", isNumber: true, compare: (a, b) => (rateOf(b) ?? 0) - (rateOf(a) ?? 0) },
  { key: "failed", title: "Failed, 1 min", isNumber: true, compare: (a, b) => failedOf(b) - failedOf(a) },
  { key: "mean", title: "Mean", isNumber: true, compare: (a, b) => meanOf(b) - meanOf(a) },
  { key: "leads", title: "Leads to" },
];

/** The same nodes and links as in the drawing, as a table. */
export function Table() {
  const order = sort.value || "node";
  const isDown = order.startsWith("-");
  const column = COLUMNS.find(({ key }) => key === order.replace("-", "")) ?? COLUMNS[0]!;
  const rows = shownNodes.value
    .filter(({ nodeId }) => found.value?.has(nodeId) !== false)
    .toSorted((a, b) => (isDown ? -1 : 1) * (column.compare?.(a, b) ?? 0) || (a.name < b.name ? -1 : 1));
  const targets = Map.groupBy(graph.value.links.values(), ({ from }) => from);
  const selected = useRef<HTMLTableRowElement>(null);
  useEffect(() => selected.current?.scrollIntoView({ block: "nearest" }), [selectedNode.value?.key]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
    <section class="scroll gr-table" tabIndex={0} aria-label="Graph as a table, scroll">
      <table class="tbl">
        <thead>
          <tr>
            {COLUMNS.map(({ key, title, isNumber, compare }) => (
              <th
                key={key}
                scope="col"
                class={`${isNumber ? "num" : ""} gr-c-${key}`}
                aria-sort={column.key === key ? (isDown === !isNumber ? "descending" : "ascending") : undefined}
              >
                {compare === undefined ? (
                  title
                ) : (
                  <button
                    class="gr-sort"
                    type="button"
                    onClick={() => adjust({ sort: column.key === key && !isDown ? `-${key}` : key })}
                  >
                    {title}
                    {column.key === key && <span aria-hidden="true">{isDown === !isNumber ? " ↓" : " ↑"}</span>}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((node) => {
            const isSelected = node === selectedNode.value;
            return (
              <tr key={node.nodeId} ref={isSelected ? selected : null} class={isSelected ? "sel" : ""}>
                <Row node={node} isSelected={isSelected} links={targets.get(node.nodeId) ?? []} />
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p class="gr-none t3">No node is found.</p>}
    </section>
  );
}

function Row({ node, isSelected, links }: { node: Node; isSelected: boolean; links: readonly Link[] }) {
  const failed = failedOf(node);
  const rate = rateOf(node);
  const isIdle = messagesOf(node) === 0;
  return (
    <>
      <td class="gr-c-node">
        <a class="cell" href={hrefWith({}, node.key)} aria-current={isSelected ? "true" : undefined}>
          <PatternIcon pattern={symbolOf(node)} look={failed > 0 ? "is-bad" : "t2"} />
          <Outside text={node.name} class="cut" />
        </a>
      </td>
      <td class="gr-c-pattern">{patternWords(node)}</td>
      <td class={`num${rate === undefined ? " t3" : ""}`}>{rate === undefined ? "–" : perSecond(rate)}</td>
      <td class={`num${failed > 0 ? " is-bad" : " t3"}`}>{isIdle ? "–" : count(failed)}</td>
      <td class={`num gr-c-mean${meanOf(node) > 0 ? "" : " t3"}`}>{meanOf(node) > 0 ? took(meanOf(node)) : "–"}</td>
      <td class="gr-c-leads">
        {links.length === 0 && <span class="t3">–</span>}
        {links.slice(0, MAX_LINKS).map((link, at) => {
          const to = graph.value.nodes.get(link.to);
          const way = wayOf(link);
          return (
            <span key={`${link.to} ${link.type}`}>
              {at > 0 && ", "}
              <a href={hrefWith({}, to?.key ?? "")}>
                <Outside text={to?.name.slice(0, 100) ?? ""} />
              </a>
              {way !== "message" && ` (${way})`}
            </span>
          );
        })}
        {links.length > MAX_LINKS && ` and ${count(links.length - MAX_LINKS)} more`}
      </td>
    </>
  );
}
