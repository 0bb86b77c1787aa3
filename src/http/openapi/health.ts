import type { EndpointPart, Parameter, Response, Schema } from "./model.ts";
import { problems } from "./problems.ts";
import { nothing, shown } from "./responses.ts";
import { SEGMENT } from "./segment.ts";

const STATUS: Schema = {
  description:
    "DOWN: it fails. OUT_OF_SERVICE: it is well and must not be used, as from the moment at which the process drains. UNKNOWN: nobody can tell.",
  type: "string",
  enum: ["UP", "DOWN", "OUT_OF_SERVICE", "UNKNOWN"],
};

const COMPONENT: Parameter = {
  name: "component",
  in: "path",
  required: true,
  description:
    "`liveness`: the process answers, whatever it needs. `readiness`: requests are welcome. Otherwise the name of a check.",
  schema: SEGMENT,
  examples: {
    liveness: { summary: "Whether the process answers", value: "liveness" },
    check: { summary: "What a check says", value: "sessions" },
  },
};

const FAILED = { status: "DOWN", details: { error: "Error", code: "ECONNREFUSED" } };

const welcome = (schema: string, description: string): Response =>
  shown(schema, `${description}: nothing fails.`, "All is well", { status: "UP" });

/** Whether the application is well. */
export const HEALTH: EndpointPart = {
  tag: { name: "health", description: "Whether requests are welcome, for load balancers." },
  schemas: {
    HealthStatus: STATUS,
    Health: {
      description:
        "How the application is; of what that is made only for those with the permission, where there are checks.",
      type: "object",
      properties: {
        status: { $ref: "#/components/schemas/HealthStatus" },
        components: { type: "object", additionalProperties: { $ref: "#/components/schemas/ComponentHealth" } },
        groups: { description: "What else is below the path.", type: "array", items: { type: "string" } },
      },
      required: ["status"],
      dependentRequired: { components: ["groups"], groups: ["components"] },
      additionalProperties: false,
    },
    HealthPart: {
      anyOf: [{ $ref: "#/components/schemas/Health" }, { $ref: "#/components/schemas/ComponentHealth" }],
    },
    ComponentHealth: {
      description: "How something is that the application needs.",
      type: "object",
      properties: {
        status: { $ref: "#/components/schemas/HealthStatus" },
        details: {
          description: "Why it is DOWN, as far as that can be shown.",
          type: "object",
          properties: {
            error: { description: "The class of the error.", type: "string" },
            code: { description: "Its code, where it has one.", type: "string" },
          },
          required: ["error"],
          additionalProperties: false,
        },
      },
      required: ["status"],
      additionalProperties: false,
    },
  },
  operations: {
    "GET /health": {
      operationId: "readHealth",
      summary: "The health",
      description: "The status of HTTP says it too.",
      responses: {
        200: welcome("Health", "Requests are welcome"),
        503: shown("Health", "Something fails, or the process is about to end.", "A check that fails", {
          status: "DOWN",
          components: { drain: { status: "UP" }, sessions: FAILED },
          groups: ["liveness", "readiness"],
        }),
        ...problems("NotAcceptable"),
      },
    },
    "GET /health/{component}": {
      operationId: "readHealthComponent",
      summary: "A part of the health",
      description: "For the probes of Kubernetes, and to look at one check.",
      parameters: [COMPONENT],
      responses: {
        200: welcome("HealthPart", "The part is well"),
        503: shown("HealthPart", "It fails, or the process is about to end.", "A check that fails", FAILED),
        404: nothing("There is no such part, or not for this caller. There is no body."),
        ...problems("NotAcceptable"),
      },
    },
  },
};
