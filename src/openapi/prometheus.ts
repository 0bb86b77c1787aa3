import { usualHeaders } from "./headers.ts";
import type { EndpointPart } from "./model.ts";

const TEXT = [
  "# HELP actuator_watchers Streams that watch.",
  "# TYPE actuator_watchers gauge",
  "actuator_watchers 2",
  "",
];

/** The server's own numbers. */
export const PROMETHEUS: EndpointPart = {
  tag: { name: "prometheus", description: "The numbers of these endpoints themselves." },
  operations: {
    "GET /prometheus": {
      operationId: "readMetrics",
      summary: "The metrics",
      description: "Of these endpoints, not of the application.",
      responses: {
        200: {
          description: "The metrics in the text format of Prometheus.",
          headers: usualHeaders("NoCache"),
          content: { "text/plain": { schema: { type: "string" }, example: TEXT.join("\n") } },
        },
      },
    },
  },
};
