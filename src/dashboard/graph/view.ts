import { computed, signal } from "@preact/signals";
import { Link_Type, type Node } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { activity } from "../state/activity.ts";
import { now } from "../state/clock.ts";
import { graph } from "../state/graph.ts";
import { amend, go, hrefOf, route } from "../state/route.ts";
import { GROUPINGS, type Grouping, groupingFor, groupsOf, nodesNear, pictureOf } from "./collapse.ts";
import { type Card, isChannel } from "./model.ts";

const MAX_DEPTH = 3;

/** Whether the screen is so narrow that only what is near one node fits. */
export const isNarrow = signal(false);
const narrow = matchMedia("(max-width: 639px)");
isNarrow.value = narrow.matches;
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});

/** The parameters of the address. */
export interface Params {
  /** How many links around the selected node are shown; `0`: all. */
  readonly focus?: string | undefined;
  /** The ids of hidden nodes. */
  readonly hide?: string | undefined;
  /** What is collapsed by; `none`. */
  readonly by?: string | undefined;
  /** The groups that are not collapsed. */
  readonly open?: string | undefined;
  readonly view?: string | undefined;
  readonly find?: string | undefined;
  readonly sort?: string | undefined;
  /** `fleet`: the graph of all instances. */
  readonly of?: string | undefined;
}

const params = computed<Params>(() => (route.value.page === "graph" ? Object.fromEntries(route.value.params) : {}));

/** The link to this screen with other parameters, or another node. */
export function hrefWith(change: Params, subject = route.value.subject): string {
  return hrefOf("graph", subject, { ...params.value, ...change });
}

/** Goes there. */
export function show(change: Params, subject = route.value.subject): void {
  go("graph", subject, { ...params.value, ...change });
}

/** As {@link show}, but without a new entry in the history of the browser. */
export function adjust(change: Params): void {
  amend(route.value.subject, { ...params.value, ...change });
}

export const isTable = computed(() => params.value.view === "table");
export const query = computed(() => params.value.find ?? "");
export const sort = computed(() => params.value.sort ?? "");

export const hiddenIds = computed<ReadonlySet<number>>(() => new Set(listOf(params.value.hide).map(Number)));
export const openGroups = computed<ReadonlySet<string>>(() => new Set(listOf(params.value.open)));

/** Adds a title to the groups that are not collapsed, or takes it away. */
export function openWith(title: string, isOpen: boolean): Params {
  const titles = new Set(openGroups.value);
  if (isOpen) titles.add(title);
  else titles.delete(title);
  return { open: [...titles].map(encodeURIComponent).join(",") };
}

function listOf(text: string | undefined): string[] {
  return text ? text.split(",").map(decoded) : [];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const allNodes = computed(() => [...graph.value.nodes.values()]);

/** Failures of each node in the last minute: what the server counted, or what this tab has seen if that is more. */
export const failing = computed<ReadonlyMap<number, number>>(() => {
  const { nodes, rates } = graph.value;
  const counted = new Map(
    (activity.value.latest?.failingNodes ?? []).map((each) => [each.nodeId, Number(each.failures)]),
  );
  const found = new Map<number, number>();
  for (const id of nodes.keys()) {
    const failures = Math.max(counted.get(id) ?? 0, rates.failedAt(id, now.value));
    if (failures > 0) found.set(id, failures);
  }
  return found;
});

/** Messages a second at a node; undefined: none was seen. */
export function rateOf(node: Node): number | undefined {
  return graph.value.rates.ofNode(node, now.value);
}

/** The channels to which failures lead. */
const errorChannels = computed(
  () => new Set([...graph.value.links.values()].filter(({ type }) => type === Link_Type.ERROR).map(({ to }) => to)),
);

/** The pattern whose symbol a node has. */
export function symbolOf(node: Node): string {
  return isChannel(node) && errorChannels.value.has(node.nodeId) ? "error_channel" : node.integrationPatternType;
}

const byKey = computed(() => new Map(allNodes.value.map((node) => [node.key, node])));

/** The selected node. */
export const selectedNode = computed<Node | undefined>(() =>
  route.value.page === "graph" ? byKey.value.get(route.value.subject) : undefined,
);

/** What stands out most: the node with the most failures in the last minute, or else the busiest. */
const worstNode = computed<Node | undefined>(() => {
  const weight = (node: Node) => (failing.value.get(node.nodeId) ?? 0) * 1e9 + node.rate;
  return allNodes.value.reduce<Node | undefined>(
    (worst, node) => (worst === undefined || weight(node) > weight(worst) ? node : worst),
    undefined,
  );
});

/** The node around which a narrow screen opens; it stays while the operator looks. */
let opening: number | undefined;

/** The node and depth to which the drawing is narrowed; undefined: the whole graph. */
export const focus = computed<{ readonly node: Node; readonly depth: number } | undefined>(() => {
  const asked = params.value.focus;
  const node = selectedNode.value ?? (isNarrow.value && asked === undefined ? openingNode() : undefined);
  if (asked === "0" || node === undefined || (asked === undefined && !isNarrow.value)) return undefined;
  return { node, depth: Math.min(MAX_DEPTH, Math.max(1, Math.round(Number(asked)) || 1)) };
});

function openingNode(): Node | undefined {
  const known = opening === undefined ? undefined : graph.value.nodes.get(opening);
  const node = known ?? worstNode.value;
  opening = node?.nodeId;
  return node;
}

/** The nodes that are neither hidden nor too far from the focus. */
export const shownNodes = computed<readonly Node[]>(() => {
  const { links } = graph.value;
  const near = focus.value && nodesNear([focus.value.node.nodeId], focus.value.depth, links.values());
  return allNodes.value.filter(({ nodeId }) => !hiddenIds.value.has(nodeId) && near?.has(nodeId) !== false);
});

/** What is collapsed by, and whether the operator chose it. */
export const grouping = computed<Grouping | undefined>(() => {
  const { by } = params.value;
  if (by === "none") return undefined;
  return GROUPINGS.find((each) => each === by) ?? groupingFor(shownNodes.value, [...graph.value.links.values()]);
});

/** The groups of the chosen kind, collapsed or not. */
export const groups = computed<ReadonlyMap<string, readonly Node[]>>(() =>
  grouping.value === undefined ? new Map() : groupsOf(shownNodes.value, graph.value.links.values(), grouping.value),
);

export const picture = computed(() =>
  pictureOf(shownNodes.value, graph.value.links, { groups: groups.value, open: openGroups.value }),
);

/** The nodes whose name, pattern or type contains what was typed; undefined: nothing was typed. */
export const found = computed<ReadonlySet<number> | undefined>(() => {
  const text = query.value.trim().toLowerCase();
  if (text === "") return undefined;
  const has = (part: string) => part.toLowerCase().replaceAll("_", " ").includes(text);
  return new Set(
    allNodes.value
      .filter(({ name, integrationPatternType, componentType }) =>
        [name, integrationPatternType, componentType].some(has),
      )
      .map(({ nodeId }) => nodeId),
  );
});

/** The card that is selected: that of the selected node, of its group, or of the group of this name. */
export const selectedCard = computed<Card | undefined>(() => {
  const { subject, page } = route.value;
  if (page !== "graph" || subject === "") return undefined;
  const node = selectedNode.value;
  return picture.value.cards.find(({ id, nodes }) => (node === undefined ? id === subject : nodes.includes(node)));
});

/** What the address calls a card. */
export function subjectOf({ isGroup, id, nodes }: Card): string {
  return isGroup ? id : nodes[0]!.key;
}
