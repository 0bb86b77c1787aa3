import { NodeIds } from "./node-id.ts";
import { defaultComponentType, patternCategory } from "./pattern.ts";
import { PROVIDER } from "./provider.ts";
import type {
  BrokerSnapshot,
  GraphSnapshot,
  JsonValue,
  LinkSnapshot,
  NodeSnapshot,
  TimerSnapshot,
} from "./snapshot.ts";

/** The graph of one instance of an application. A graph that was merged before keeps the names of its own instances. */
export interface GraphPart {
  /** What an operator calls the instance. No two have the same name. */
  readonly instance: string;
  readonly graph: GraphSnapshot;
}

/**
 * One graph of those of several instances and applications: what has the same key is one node, so that applications meet at
 * the channels of the brokers that they share.
 *
 * Counts and rates are added, means weighted by their counts; `max` is the longest of all and `lastSeenTime` the latest. A node
 * is stale where it is in all of its instances. A process that is given twice, under two names, counts once. Where instances say different things of a node, the first in the order of their
 * names prevails, one that is not stale before others. Ids follow from the keys in sorted order, so that the same parts give
 * the same graph in whatever order they come.
 *
 * @example
 * ```ts
 * const whole = mergeGraphs([
 *   { instance: "orders-1", graph: orders.snapshot() },
 *   { instance: "billing-1", graph: billing.snapshot() },
 * ]);
 * ```
 */
export function mergeGraphs(parts: readonly GraphPart[]): GraphSnapshot {
  return new GraphMerger().merge(parts);
}

/** Merges graphs as {@link mergeGraphs} does, again and again: a node whose parts are the very same objects as before is not made anew. */
export class GraphMerger {
  #known: ReadonlyMap<string, Merged> = new Map();

  merge(parts: readonly GraphPart[]): GraphSnapshot {
    const ordered = differentParts(parts).toSorted((one, other) => compare(one.instance, other.instance));
    const sightings = new Map<string, Sighting[]>();
    for (const { instance, graph } of ordered) {
      for (const node of graph.nodes) listed(sightings, node.key).push({ node, instance });
    }
    const ids = new NodeIds();
    const idOf = new Map([...sightings.keys()].sort(compare).map((key) => [key, ids.take(key)]));
    const merged = new Map(Array.from(idOf, ([key, id]) => [key, this.#merged(id, key, sightings.get(key)!)]));
    this.#known = merged;
    const apps = new Set(ordered.map(({ graph }) => graph.contentDescriptor.name));
    const [app] = apps;
    return {
      contentDescriptor: {
        ...PROVIDER,
        ...(apps.size === 1 && app !== undefined && { name: app }),
        ...leftOut("dropped", ordered),
        ...leftOut("collapsed", ordered),
      },
      nodes: Array.from(merged.values(), ({ node }) => node),
      links: mergedLinks(ordered, idOf),
      revision: ordered.reduce((sum, { graph }) => sum + graph.revision, 0),
      ...mergedBrokers(ordered),
    };
  }

  #merged(id: number, key: string, sightings: readonly Sighting[]): Merged {
    const known = this.#known.get(key);
    const isKnown =
      known?.node.nodeId === id &&
      known.sightings.length === sightings.length &&
      known.sightings.every(({ node, instance }, at) => {
        return node === sightings[at]!.node && instance === sightings[at]!.instance;
      });
    return isKnown ? known : { sightings, node: mergedNode(id, sightings) };
  }
}

/**
 * The parts without those of a process that has one already, under another address.
 *
 * @example
 * ```ts
 * differentParts(parts).length < parts.length; // a process was given twice
 * ```
 */
export function differentParts(parts: readonly GraphPart[]): readonly GraphPart[] {
  const seen = new Set<string>();
  return parts.filter(({ graph: { instanceId } }) => {
    if (instanceId === undefined) return true;
    const isNew = !seen.has(instanceId);
    seen.add(instanceId);
    return isNew;
  });
}

function mergedBrokers(parts: readonly GraphPart[]): Pick<GraphSnapshot, "brokers"> {
  const brokers = new Map<string, BrokerSnapshot>();
  for (const broker of parts.flatMap(({ graph }) => graph.brokers ?? [])) {
    const id = JSON.stringify([broker.system, broker.name]);
    if (!brokers.has(id)) brokers.set(id, broker);
  }
  return brokers.size > 0 ? { brokers: [...brokers.values()] } : {};
}

function leftOut<F extends "dropped" | "collapsed">(name: F, parts: readonly GraphPart[]) {
  const count = sum(parts.map(({ graph }) => graph.contentDescriptor[name] ?? 0));
  return (count > 0 ? { [name]: count } : {}) as { readonly [Name in F]?: number };
}

/** In the order of the keys of their ends. */
function mergedLinks(parts: readonly GraphPart[], idOf: ReadonlyMap<string, number>): readonly LinkSnapshot[] {
  const links = new Map<string, Mutable<LinkSnapshot>>();
  for (const { graph } of parts) {
    const ids = new Map(graph.nodes.map(({ nodeId, key }) => [nodeId, idOf.get(key)!]));
    for (const { from, to, type, count, declared } of graph.links) {
      const [start, end] = [ids.get(from), ids.get(to)];
      if (start === undefined || end === undefined) continue;
      const id = `${start} ${type} ${end}`;
      const known = links.get(id);
      if (known === undefined) links.set(id, { from: start, to: end, type, count, declared });
      else {
        known.count += count;
        known.declared ||= declared;
      }
    }
  }
  const places = new Map(Array.from(idOf.values(), (id, place) => [id, place]));
  const place = (id: number) => places.get(id)!;
  return [...links.values()].sort(
    (one, other) =>
      place(one.from) - place(other.from) || compare(one.type, other.type) || place(one.to) - place(other.to),
  );
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

/** A node in one of the parts. */
interface Sighting {
  readonly node: NodeSnapshot;
  readonly instance: string;
}

interface Merged {
  readonly sightings: readonly Sighting[];
  readonly node: NodeSnapshot;
}

function mergedNode(nodeId: number, sightings: readonly Sighting[]): NodeSnapshot {
  const nodes = sightings.map(({ node }) => node).sort((one, other) => Number(one.stale) - Number(other.stale));
  const first = nodes[0]!;
  // A message channel may be a guess of an instance that only refers to the channel.
  const { integrationPatternType: pattern } =
    nodes.find((node) => node.integrationPatternType !== "message_channel") ?? first;
  const named = nodes.find(({ componentType, integrationPatternType }) => {
    return integrationPatternType === pattern && componentType !== defaultComponentType(pattern);
  });
  const lastSeenTime = Math.max(0, ...nodes.map((node) => node.lastSeenTime ?? 0));
  const routes = nodes.flatMap((node) => node.routes ?? []);
  return {
    nodeId,
    componentType: named?.componentType ?? defaultComponentType(pattern),
    integrationPatternType: pattern,
    integrationPatternCategory: patternCategory(pattern),
    properties: mergedProperties(nodes),
    name: first.name,
    observed: nodes.some(({ observed }) => observed),
    key: first.key,
    ...field("input", nodes),
    ...field("output", nodes),
    ...field("errors", nodes),
    ...field("discards", nodes),
    ...(nodes.some((node) => node.routes !== undefined) && { routes: [...new Set(routes)] }),
    ...field("handlers", nodes),
    rate: sum(nodes.map(({ rate }) => rate)),
    stale: nodes.every(({ stale }) => stale),
    ...(lastSeenTime > 0 && { lastSeenTime }),
    ...sendTimers(nodes),
    ...receiveCounters(nodes),
    instances: [...new Set(sightings.flatMap(({ node, instance }) => node.instances ?? [instance]))].sort(compare),
  };
}

function field<F extends "input" | "output" | "errors" | "discards" | "handlers">(
  name: F,
  nodes: readonly NodeSnapshot[],
) {
  const value = nodes.find((node) => node[name] !== undefined)?.[name];
  return (value === undefined ? {} : { [name]: value }) as Pick<NodeSnapshot, F>;
}

function mergedProperties(nodes: readonly NodeSnapshot[]): { readonly [key: string]: JsonValue } {
  const merged = new Map<string, JsonValue>();
  for (const { properties } of nodes) {
    for (const [key, value] of Object.entries(properties)) if (!merged.has(key)) merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

function sendTimers(nodes: readonly NodeSnapshot[]) {
  const timers = nodes.flatMap((node) => node.sendTimers ?? []);
  if (timers.length === 0) return {};
  const successes = mergedTimer(timers.map((timer) => timer.successes));
  return { sendTimers: { successes, failures: mergedTimer(timers.map((timer) => timer.failures)) } };
}

function mergedTimer(timers: readonly TimerSnapshot[]): TimerSnapshot {
  const count = sum(timers.map((timer) => timer.count));
  const total = sum(timers.map((timer) => timer.count * timer.mean));
  return { count, mean: count === 0 ? 0 : total / count, max: Math.max(...timers.map(({ max }) => max)) };
}

function receiveCounters(nodes: readonly NodeSnapshot[]) {
  const counters = nodes.flatMap((node) => node.receiveCounters ?? []);
  if (counters.length === 0) return {};
  const successes = sum(counters.map((counter) => counter.successes));
  return { receiveCounters: { successes, failures: sum(counters.map((counter) => counter.failures)) } };
}

function listed<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: V[] = [];
  lists.set(key, list);
  return list;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** By UTF-16 code unit, whatever the language of the machine. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
