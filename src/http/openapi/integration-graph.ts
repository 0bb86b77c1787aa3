import { PROVIDER } from "../../integration-graph/provider.ts";
import { header, usualHeaders } from "./headers.ts";
import { GRAPH_SCHEMAS } from "./integration-graph-schemas.ts";
import { actuatorContent } from "./media-types.ts";
import type { EndpointPart } from "./model.ts";
import { BODY_PROBLEMS, problems } from "./problems.ts";
import { IF_NONE_MATCH, nothing, notModified } from "./responses.ts";

const timer = (count: number, mean: number, max: number) => ({ count, mean, max });

const GRAPH = {
  contentDescriptor: PROVIDER,
  nodes: [
    {
      nodeId: 1,
      componentType: "channel",
      integrationPatternType: "message_channel",
      integrationPatternCategory: "messaging_channel",
      properties: {},
      sendTimers: { successes: timer(4, 7.063034, 13.080809), failures: timer(0, 0, 0) },
      name: "orders",
      observed: true,
    },
    {
      nodeId: 2,
      componentType: "router",
      integrationPatternType: "router",
      integrationPatternCategory: "message_routing",
      properties: { expression: "order.country" },
      name: "byCountry",
      observed: true,
      input: "orders",
      routes: ["orders"],
    },
  ],
  links: [
    { from: 1, to: 2, type: "input" },
    { from: 2, to: 1, type: "route" },
  ],
};

/** How messages flow. */
export const INTEGRATION_GRAPH: EndpointPart = {
  tag: { name: "integrationgraph", description: "The application's messaging components, and how messages flow." },
  schemas: GRAPH_SCHEMAS,
  operations: {
    "GET /integrationgraph": {
      operationId: "readIntegrationGraph",
      summary: "The graph",
      description: "Its numbers are those of the moment.",
      parameters: [IF_NONE_MATCH],
      responses: {
        200: {
          description: "The graph.",
          headers: { ...usualHeaders("NoCache"), ETag: header("ETag") },
          content: actuatorContent({
            schema: { $ref: "#/components/schemas/IntegrationGraph" },
            examples: { graph: { summary: "A channel, and a router that reads from it", value: GRAPH } },
          }),
        },
        304: notModified(),
        ...problems("NotAcceptable"),
      },
    },
    "POST /integrationgraph": {
      operationId: "rebuildIntegrationGraph",
      summary: "Rebuilds the graph",
      description: "Reads every source again and drops what is gone. The counters go on.",
      requestBody: {
        description: "Not needed. A body must be JSON, and is ignored.",
        required: false,
        content: actuatorContent({
          schema: { description: "Any JSON." },
          examples: { empty: { summary: "As good as none", value: {} } },
        }),
      },
      responses: {
        204: nothing("The graph is rebuilt. There is no body."),
        ...problems("MethodNotAllowed", ...BODY_PROBLEMS),
      },
    },
  },
};
