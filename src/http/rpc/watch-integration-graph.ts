import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { ActuatorError } from "../../common/error.ts";
import {
  type WatchIntegrationGraphRequest,
  type WatchIntegrationGraphResponse,
  WatchIntegrationGraphResponseSchema,
} from "../../gen/actuator/v3/integration_graph_pb.ts";
import type { IntegrationGraph } from "../../integration-graph/graph.ts";
import { GraphWatch, type GraphWatcher, WATCH_INTERVAL } from "../../integration-graph/watch.ts";
import { GraphPieces, type Position } from "./integration-graph-pieces.ts";
import { liveEvents } from "./live-events.ts";
import type { ServiceLimits } from "./service-limits.ts";

/** Watches the graph for one caller. */
export type WatchIntegrationGraph = (
  request: WatchIntegrationGraphRequest,
  context: Pick<HandlerContext, "requestHeader">,
) => AsyncIterableIterator<WatchIntegrationGraphResponse, undefined>;

/**
 * Watches of the graph that share what is told. A watcher holds two versions and a place, whatever happens and however slowly it
 * reads: it is told what is news when it reads, so changes that it was too slow for reach it as one.
 */
export function watchIntegrationGraph(
  graph: IntegrationGraph,
  { maxBytes, heartbeatMs }: ServiceLimits,
): WatchIntegrationGraph {
  const watch = new GraphWatch(graph);
  const pieces = new GraphPieces(maxBytes);
  const heartbeat = durationFromMs(heartbeatMs);

  return ({ interval }, { requestHeader }) => {
    const binary = !/json/i.test(requestHeader.get("content-type") ?? "");
    const milliseconds = intervalFrom(interval);
    let since = 0;
    let until = 0;
    let after: Position | undefined;
    let watcher: GraphWatcher;

    return liveEvents(
      {
        open(wake) {
          watcher = watch.watch(milliseconds, wake);
        },
        take() {
          const { state } = watcher;
          if (after === undefined && since === state.version) return undefined;
          if (since < state.remembers && tellsOfRemoved(after)) {
            since = 0;
            after = undefined;
          }
          if (after === undefined) until = state.version;
          const { response, last } = pieces.get(state, { since, until, after, binary });
          after = last;
          if (last === undefined) since = until;
          return response;
        },
        heartbeat: () =>
          create(WatchIntegrationGraphResponseSchema, {
            event: { case: "heartbeat", value: { interval: heartbeat } },
            revision: BigInt(watcher.state.revision),
          }),
        close() {
          watcher.close();
        },
      },
      heartbeatMs,
    );
  };
}

/** Whether what is gone is still to be told. */
function tellsOfRemoved(after: Position | undefined): boolean {
  return after === undefined || after.part < 2;
}

/** @throws ActuatorError INVALID_ARGUMENT for an interval that is too short or too long. */
function intervalFrom(interval: Duration | undefined): number {
  if (interval === undefined) return WATCH_INTERVAL.default;
  const milliseconds = durationMs(interval);
  if (milliseconds >= WATCH_INTERVAL.min && milliseconds <= WATCH_INTERVAL.max) return milliseconds;
  const message = "The interval must be 0.25 seconds at least and 60 seconds at most.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_INTERVAL", message, { field: "interval" });
}
