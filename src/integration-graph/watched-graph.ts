import { isDeepStrictEqual } from "node:util";
import type { ContentDescriptor, GraphSnapshot, LinkSnapshot, NodeSnapshot, TimerSnapshot } from "./snapshot.ts";

/** Something that is watched. */
export interface Dated<Subject> {
  readonly subject: Subject;
  /** The version in which it was last seen to change. */
  readonly version: number;
  /** The version in which it was first seen. */
  readonly since: number;
  /** Grows from each to the next in its list, and stays. */
  readonly place: number;
}

/** A graph at one moment, with what a client of an earlier version needs to know. */
export interface WatchedGraph {
  readonly contentDescriptor: ContentDescriptor;
  /** The version in which the content descriptor was last seen to change. */
  readonly describedAt: number;
  readonly nodes: readonly Dated<NodeSnapshot>[];
  readonly links: readonly Dated<LinkSnapshot>[];
  /** The ids of nodes that are gone, with all their links. */
  readonly removedNodes: readonly Dated<number>[];
  /** Links that are gone, those of nodes that are gone too. */
  readonly removedLinks: readonly Dated<LinkSnapshot>[];
  /** The revision of the graph. */
  readonly revision: number;
  /** Grows whenever anything changes. */
  readonly version: number;
  /** A client with an older version starts again: what was removed before is forgotten. */
  readonly remembers: number;
}

/** A rate that changes by itself is news when it is off by this part: every quarter of a minute after the last message. */
const RATE_TOLERANCE = 0.2;
/** How many removed nodes and links are remembered, for watchers that have not received their removal yet. */
const MAX_REMOVED = 4_000;

/** The first version of a watched graph. */
export function watchedGraph(graph: GraphSnapshot): WatchedGraph {
  const { contentDescriptor, revision } = graph;
  const fresh = <Subject>(subject: Subject, place: number) => ({ subject, version: 1, since: 1, place });
  const [nodes, links] = [graph.nodes.map(fresh), graph.links.map(fresh)];
  const [described, removed] = [
    { contentDescriptor, describedAt: 1 },
    { removedNodes: [], removedLinks: [] },
  ];
  return { ...described, nodes, links, ...removed, revision, version: 1, remembers: 1 };
}

/** The graph as it is now for watchers of `before`; `before` itself if nothing has changed. */
export function watchedAgain(before: WatchedGraph, graph: GraphSnapshot): WatchedGraph {
  const version = before.version + 1;
  const nodes = dated(before.nodes, graph.nodes, { version, ...NODES });
  const links = dated(before.links, graph.links, { version, ...LINKS });
  const describedAgain = !isDeepStrictEqual(before.contentDescriptor, graph.contentDescriptor);
  const sameStructure = nodes.list === before.nodes && links.list === before.links;
  if (sameStructure && !describedAgain && graph.revision === before.revision) return before;

  const removedNodes = removed(before.removedNodes, nodes, { version, nameOf: ({ nodeId }) => nodeId, keyOf: String });
  const removedLinks = removed(before.removedLinks, links, { version, nameOf: (link) => link, keyOf: linkKey });
  const forgotten = Math.max(removedNodes.forgotten, removedLinks.forgotten);
  return {
    contentDescriptor: graph.contentDescriptor,
    describedAt: describedAgain ? version : before.describedAt,
    nodes: nodes.list,
    links: links.list,
    removedNodes: removedNodes.list,
    removedLinks: removedLinks.list,
    revision: graph.revision,
    version,
    remembers: Math.max(before.remembers, forgotten),
  };
}

interface Comparison<Subject> {
  readonly version: number;
  readonly keyOf: (subject: Subject) => unknown;
  /** Whether the keys are the same. */
  readonly isIt: (told: Subject, now: Subject) => boolean;
  readonly isSame: (told: Subject, now: Subject) => boolean;
}

interface Compared<Subject> {
  /** The same list as before where nothing is news. */
  readonly list: readonly Dated<Subject>[];
  readonly added: readonly Subject[];
  readonly removed: readonly Subject[];
}

/** What was there keeps its place; what is new comes after it. */
function dated<Subject>(
  before: readonly Dated<Subject>[],
  now: readonly Subject[],
  { version, keyOf, isIt, isSame }: Comparison<Subject>,
): Compared<Subject> {
  const again = (known: Dated<Subject>, subject: Subject) =>
    isSame(known.subject, subject) ? known : { ...known, subject, version };
  // Most of the time the structure is as it was, and no keys are needed.
  if (now.length === before.length && now.every((subject, at) => isIt(before[at]!.subject, subject))) {
    const list = now.map((subject, at) => again(before[at]!, subject));
    return { list: list.every((entry, at) => entry === before[at]) ? before : list, added: [], removed: [] };
  }
  const left = new Map(now.map((subject) => [keyOf(subject), subject]));
  const list: Dated<Subject>[] = [];
  const removed: Subject[] = [];
  for (const known of before) {
    const key = keyOf(known.subject);
    const subject = left.get(key);
    if (subject === undefined) removed.push(known.subject);
    else list.push(again(known, subject));
    left.delete(key);
  }
  const added = [...left.values()];
  const place = (before.at(-1)?.place ?? 0) + 1;
  for (const [at, subject] of added.entries()) list.push({ subject, version, since: version, place: place + at });
  return { list, added, removed };
}

/** What is gone, without what came back; the oldest are forgotten. */
function removed<Subject, Name>(
  before: readonly Dated<Name>[],
  now: Compared<Subject>,
  { version, nameOf, keyOf }: { version: number; nameOf: (subject: Subject) => Name; keyOf: (name: Name) => string },
): { readonly list: readonly Dated<Name>[]; readonly forgotten: number } {
  if (now.added.length === 0 && now.removed.length === 0) return { list: before, forgotten: 0 };
  const back = new Set(now.added.map((subject) => keyOf(nameOf(subject))));
  const list = before.filter(({ subject }) => !back.has(keyOf(subject)));
  const place = (list.at(-1)?.place ?? 0) + 1;
  for (const [at, subject] of now.removed.entries()) {
    list.push({ subject: nameOf(subject), version, since: version, place: place + at });
  }
  const lost = list.splice(0, list.length - MAX_REMOVED);
  return { list, forgotten: lost.at(-1)?.version ?? 0 };
}

function linkKey({ from, type, to }: LinkSnapshot): string {
  return `${from} ${type} ${to}`;
}

const NODES: Omit<Comparison<NodeSnapshot>, "version"> = {
  keyOf: ({ nodeId }) => nodeId,
  isIt: (told, now) => told.nodeId === now.nodeId,
  isSame: isSameNode,
};

const LINKS: Omit<Comparison<LinkSnapshot>, "version"> = {
  keyOf: linkKey,
  isIt: (told, now) => told.from === now.from && told.to === now.to && told.type === now.type,
  isSame: isSameLink,
};

function isSameLink(told: LinkSnapshot, now: LinkSnapshot): boolean {
  return told.count === now.count && told.declared === now.declared;
}

/** Fields that are not numbers are compared as a whole only where they are not the very same objects. */
function isSameNode(told: NodeSnapshot, now: NodeSnapshot): boolean {
  return (
    told.lastSeenTime === now.lastSeenTime &&
    told.stale === now.stale &&
    isSameRate(told.rate, now.rate) &&
    isSameTimer(told.sendTimers?.successes, now.sendTimers?.successes) &&
    isSameTimer(told.sendTimers?.failures, now.sendTimers?.failures) &&
    told.receiveCounters?.successes === now.receiveCounters?.successes &&
    told.receiveCounters?.failures === now.receiveCounters?.failures &&
    STRUCTURE.every((field) => told[field] === now[field] || isDeepStrictEqual(told[field], now[field]))
  );
}

const STRUCTURE = [
  "nodeId",
  "key",
  "name",
  "componentType",
  "integrationPatternType",
  "observed",
  "input",
  "output",
  "errors",
  "discards",
  "routes",
  "handlers",
  "properties",
  "instances",
] as const satisfies readonly (keyof NodeSnapshot)[];

function isSameRate(told: number, now: number): boolean {
  return Math.abs(told - now) <= RATE_TOLERANCE * Math.max(told, now) && (told === 0) === (now === 0);
}

function isSameTimer(told: TimerSnapshot | undefined, now: TimerSnapshot | undefined): boolean {
  return told?.count === now?.count && told?.mean === now?.mean && told?.max === now?.max;
}
