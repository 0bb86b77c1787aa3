import { keyParts } from "../node-id.ts";
import type { GraphSnapshot, NodeSnapshot } from "../snapshot.ts";

/** The nodes of one application or one broker. */
export interface Group {
  /** The application's name, or the system and the broker; undefined if neither is known. */
  readonly title: string | undefined;
  readonly kind: "application" | "broker" | "none";
  readonly nodes: readonly NodeSnapshot[];
}

/** The system of destinations inside a process, which belong to its application. */
const IN_PROCESS = "node";

/**
 * The nodes by application and by broker, applications first. A channel without a broker belongs to the application if the
 * graph is of one application, and to no group if it is of several.
 */
export function groupsOf(graph: GraphSnapshot): readonly Group[] {
  const groups = Map.groupBy(graph.nodes, (node) => JSON.stringify(placeOf(node, graph.contentDescriptor.name)));
  return Array.from(groups, ([place, nodes]): Group => ({ ...(JSON.parse(place) as Place), nodes }))
    .map((group) => ({ ...group, title: group.title ?? undefined }))
    .sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
}

type Place = Pick<Group, "title" | "kind">;
const ORDER: readonly Group["kind"][] = ["application", "broker", "none"];

function placeOf({ key }: NodeSnapshot, only: string | undefined): Place {
  const { app, system, broker } = keyParts(key);
  if (app !== undefined) return { kind: "application", title: app };
  if (broker !== undefined && system === IN_PROCESS) return { kind: "application", title: broker };
  if (broker !== undefined) return { kind: "broker", title: `${system} ${broker}` };
  return only === undefined ? { kind: "none", title: undefined } : { kind: "application", title: only };
}

/** Maps each application to the instances that have a node of it. Empty for a graph that was not merged. */
export function instancesOfApplications(graph: GraphSnapshot): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const { key, instances = [] } of graph.nodes) {
    const { app } = keyParts(key);
    if (app === undefined) continue;
    const known = all.get(app) ?? new Set();
    for (const instance of instances) known.add(instance);
    all.set(app, known);
  }
  return all;
}
