import { computed, effect, signal } from "@preact/signals";
import { WatchedGraph } from "../../client/watched-graph.ts";
import type { WatchFleetGraphResponse_Instances as Instances } from "../../gen/actuator/v3/fleet_pb.ts";
import type {
  ContentDescriptor,
  Link,
  Node,
  WatchIntegrationGraphResponse,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import { Rates } from "../graph/rates.ts";
import type { Fault } from "../link/messages.ts";
import { route } from "./route.ts";
import { hasFleet, link, onLink, serves } from "./server.ts";

/** The integration graph, kept current while a screen shows it. */
export interface GraphState {
  /** False until the first whole snapshot. */
  readonly isLoaded: boolean;
  readonly nodes: ReadonlyMap<number, Node>;
  /** By their key: see `linkKey`. */
  readonly links: ReadonlyMap<string, Link>;
  readonly contentDescriptor: ContentDescriptor | undefined;
  /** Which instances it has, if it is the graph of a fleet. */
  readonly instances: Instances | undefined;
  /** Measured from the changes that this tab has received. */
  readonly rates: Rates;
  readonly fault: Fault | undefined;
}

const NOTHING = {
  isLoaded: false,
  nodes: new Map(),
  links: new Map(),
  contentDescriptor: undefined,
  instances: undefined,
  fault: undefined,
};

/** A new object with each whole event; the maps within are the same ones, changed in place. */
export const graph = signal<GraphState>({ ...NOTHING, rates: new Rates() });

/** Whether it is the graph of all instances of the fleet: the address of its screen says so, or this one has none. */
export const isOfFleet = computed(
  () =>
    route.value.page === "graph" &&
    hasFleet() &&
    (route.value.params.get("of") === "fleet" || !serves("IntegrationGraphService")),
);

/** When a watch is begun anew that was refused because the fleet's engine does not answer. */
const AGAIN_MS = 5_000;

let users = 0;
let stop: (() => void) | undefined;
let again: ReturnType<typeof setTimeout> | undefined;

/** Watches the graph until the returned function is called. All callers share one watch. */
export function watchGraph(): () => void {
  users += 1;
  if (users === 1) begin();
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    users -= 1;
    if (users > 0) return;
    clearTimeout(again);
    stop?.();
    stop = undefined;
  };
}

/** Asks again after a fault, which is shown until there is an answer. */
export function retryGraph(): void {
  restart(graph.peek());
}

function retrySoon(): void {
  clearTimeout(again);
  again = setTimeout(retryGraph, AGAIN_MS);
}

function restart(known?: GraphState): void {
  clearTimeout(again);
  stop?.();
  if (users > 0) begin(known);
}

function begin(known: Omit<GraphState, "rates"> = NOTHING): void {
  const followed = link;
  const watched = new WatchedGraph();
  const rates = new Rates();
  const end = (fault: Fault | undefined) => {
    if (followed === link) graph.value = { ...graph.value, fault };
  };
  const interrupted = (fault: Fault) => {
    end(fault);
    if (followed === link) retrySoon();
  };
  const message = (event: WatchIntegrationGraphResponse) => {
    if (followed !== link) return;
    const change = watched.apply(event);
    if (change === undefined) return;
    clearTimeout(again);
    rates.apply(change, Date.now());
    const { nodes, links, contentDescriptor } = watched;
    graph.value = { ...graph.value, isLoaded: true, nodes, links, contentDescriptor, fault: undefined };
  };
  if (known.fault !== undefined) retrySoon();
  graph.value = { ...known, rates };
  if (!isOfFleet.value) {
    stop = followed.watch("graph", { message, interrupted, end });
    return;
  }
  stop = followed.watch("fleetGraph", {
    message({ event }) {
      if (event.case === "graph") message(event.value);
      else if (event.case === "instances" && followed === link) {
        graph.value = { ...graph.value, instances: event.value };
      }
    },
    interrupted,
    end,
  });
}

onLink(() => {
  if (users > 0) begin();
});

let wasOfFleet = false;
effect(() => {
  if (isOfFleet.value === wasOfFleet) return;
  wasOfFleet = isOfFleet.value;
  restart();
});
