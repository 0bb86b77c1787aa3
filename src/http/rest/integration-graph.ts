import type { IntegrationGraph } from "../../integration-graph/graph.ts";
import { integrationGraphJson } from "./integration-graph-json.ts";
import { JSON_BODY } from "./media-type.ts";
import type { Operation } from "./operation.ts";
import { Representation } from "./representation.ts";

/** GET of the graph with its numbers as they are now. */
export function readGraph(graph: IntegrationGraph): Operation {
  return {
    run: () => ({
      status: 200,
      representation: new Representation(integrationGraphJson(graph.snapshot())),
      tagged: true,
    }),
  };
}

/** POST that re-reads every source of the graph. A body is checked, as the original does, and says nothing. */
export function rebuildGraph(graph: IntegrationGraph): Operation {
  return {
    body: { types: JSON_BODY, typeRequired: false },
    async run() {
      await graph.rebuild();
      return { status: 204 };
    },
  };
}
