import { usualHeaders } from "./headers.ts";
import type { EndpointPart } from "./model.ts";
import { problems } from "./problems.ts";

const LINES = [
  "# HELP actuator_loggers Loggers that are known.",
  "# TYPE actuator_loggers gauge",
  "actuator_loggers 2",
];
const text = (...lines: readonly string[]) => ({ schema: { type: "string" }, example: `${lines.join("\n")}\n` });

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
          description: "The metrics in the text format of Prometheus, or that of OpenMetrics.",
          headers: usualHeaders("NoCache"),
          content: { "text/plain": text(...LINES), "application/openmetrics-text": text(...LINES, "# EOF") },
        },
        ...problems("NotAcceptableAsText"),
      },
    },
  },
};
