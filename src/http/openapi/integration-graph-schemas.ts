import { LINK_TYPES } from "../../integration-graph/link-type.ts";
import { PATTERNS } from "../../integration-graph/pattern.ts";
import type { Schema } from "./model.ts";

const text = (description: string): Schema => ({ description, type: "string" });
const id = (description: string): Schema => ({ description, type: "integer", minimum: 0 });
const oneOf = (values: readonly string[], description: string): Schema => ({
  description,
  type: "string",
  enum: values,
});

/** An object of exactly these members, required but for those that may be left out. */
function exactly(description: string, properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { description, type: "object", properties, required, additionalProperties: false };
}

const count: Schema = { type: "integer", minimum: 0 };
const milliseconds: Schema = { type: "number", minimum: 0 };
const timer: Schema = { $ref: "#/components/schemas/Timer" };

/** What the endpoint of the graph shows: the fields of the specification, and those that the original has beyond them. */
export const GRAPH_SCHEMAS: Readonly<Record<string, Schema>> = {
  IntegrationGraph: exactly("All messaging components and the links between them.", {
    contentDescriptor: exactly("Who provides the graph.", {
      providerVersion: text("The provider's version."),
      providerFormatVersion: { description: "The version of the format.", type: "number" },
      provider: text("Who made the graph."),
    }),
    nodes: { type: "array", items: { $ref: "#/components/schemas/Node" } },
    links: { type: "array", items: { $ref: "#/components/schemas/Link" } },
  }),
  Node: exactly(
    "A messaging component.",
    {
      nodeId: id("What links call the node."),
      componentType: text("The kind of component, in lower-case words with hyphens."),
      integrationPatternType: oneOf(Object.values(PATTERNS).flat(), "The integration pattern."),
      integrationPatternCategory: oneOf(Object.keys(PATTERNS), "The family of patterns."),
      properties: { description: "Whatever else there is to know.", type: "object" },
      sendTimers: exactly("How sending or handling messages went.", { successes: timer, failures: timer }),
      receiveCounters: exactly("How taking messages out went.", { successes: count, failures: count }),
      name: text("The name of the component."),
      observed: { description: "Whether numbers are taken.", type: "boolean" },
      input: text("The channel that messages come from."),
      output: text("The channel that messages or replies go to."),
      errors: text("The channel that failures go to."),
      discards: text("The channel that refused messages go to."),
      routes: { description: "The channels that a router chooses among.", type: "array", items: { type: "string" } },
      handlers: {
        description: "What a chain runs messages through.",
        type: "array",
        items: exactly("A step.", { name: text("Its name."), type: text("Its kind.") }),
      },
    },
    ["sendTimers", "receiveCounters", "input", "output", "errors", "discards", "routes", "handlers"],
  ),
  Timer: exactly("Durations since the process began, in milliseconds.", {
    count,
    mean: milliseconds,
    max: milliseconds,
  }),
  Link: exactly("A way that messages take.", {
    from: id("The node that it begins at."),
    to: id("The node that it leads to."),
    type: oneOf(LINK_TYPES, "What kind of way."),
  }),
};
