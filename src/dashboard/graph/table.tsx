import { Component, createRef } from "preact";
import type { Link, Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { count } from "../components/number.ts";
import { Outside } from "../components/outside.tsx";
import { PatternIcon } from "../components/pattern-icon.tsx";
import { graph } from "../state/graph.ts";
import { messagesOf, type Way, wayOf } from "./model.ts";
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
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
    <section class="scroll scroll-x gr-table" tabIndex={0} aria-label="Graph as a table, scroll">
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
          {rows.map((node) => (
            <Row key={node.nodeId} {...rowOf(node, targets.get(node.nodeId) ?? [])} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="gr-none t3">No node is found.</p>}
    </section>
  );
}

interface RowProps {
  readonly href: string;
  readonly name: string;
  readonly symbol: string;
  readonly pattern: string;
  readonly rate: string;
  readonly failed: number | undefined;
  readonly mean: string;
  readonly isSelected: boolean;
  readonly leads: readonly Lead[];
}

interface Lead {
  readonly href: string;
  readonly name: string;
  readonly way: Way;
}

const NONE = "–";

function rowOf(node: Node, links: readonly Link[]): RowProps {
  const rate = rateOf(node);
  return {
    href: hrefWith({}, node.key),
    name: node.name,
    symbol: symbolOf(node),
    pattern: patternWords(node),
    rate: rate === undefined ? NONE : perSecond(rate),
    failed: messagesOf(node) === 0 ? undefined : failedOf(node),
    mean: meanOf(node) > 0 ? took(meanOf(node)) : NONE,
    isSelected: node === selectedNode.value,
    leads: links.map((link) => {
      const { key = "", name = "" } = graph.value.nodes.get(link.to) ?? {};
      return { href: hrefWith({}, key), name: name.slice(0, 100), way: wayOf(link) };
    }),
  };
}

/** Drawn anew only if what it shows has changed. */
class Row extends Component<RowProps> {
  #element = createRef<HTMLTableRowElement>();

  override shouldComponentUpdate(next: RowProps): boolean {
    return JSON.stringify(next) !== JSON.stringify(this.props);
  }

  override componentDidMount() {
    if (this.props.isSelected) this.#element.current?.scrollIntoView({ block: "nearest" });
  }

  render() {
    const { href, name, symbol, pattern, rate, failed = 0, mean, isSelected, leads } = this.props;
    const quiet = (text: string) => `num${text === NONE ? " t3" : ""}`;
    return (
      <tr ref={this.#element} class={isSelected ? "sel" : ""}>
        <td class="gr-c-node">
          <a class="cell" href={href} aria-current={isSelected ? "true" : undefined}>
            <PatternIcon pattern={symbol} look={failed > 0 ? "is-bad" : "t2"} />
            <Outside text={name} class="cut" />
          </a>
        </td>
        <td class="gr-c-pattern">{pattern}</td>
        <td class={quiet(rate)}>{rate}</td>
        <td class={`num${failed > 0 ? " is-bad" : " t3"}`}>{this.props.failed === undefined ? NONE : count(failed)}</td>
        <td class={`${quiet(mean)} gr-c-mean`}>{mean}</td>
        <td class="gr-c-leads">
          {leads.length === 0 && <span class="t3">{NONE}</span>}
          {leads.slice(0, MAX_LINKS).map((lead, at) => (
            <span key={`${lead.href} ${lead.way}`}>
              {at > 0 && ", "}
              <a href={lead.href}>
                <Outside text={lead.name} />
              </a>
              {lead.way !== "message" && ` (${lead.way})`}
            </span>
          ))}
          {leads.length > MAX_LINKS && ` and ${count(leads.length - MAX_LINKS)} more`}
        </td>
      </tr>
    );
  }
}
