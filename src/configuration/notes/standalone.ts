import type { FleetOptions } from "../../fleet/options.ts";
import type { GraphOptions, StoreOptions } from "../serve-options.ts";
import type { Notes } from "../setting.ts";

/** What is said of a store of sessions. */
export const STORE_NOTES: Notes<StoreOptions> = {
  redis: {
    description: "Redis: redis://user:password@host:6379/0. Needs the package redis.",
    kind: "text",
    secret: "url",
  },
  postgres: {
    description: "PostgreSQL: postgres://user:password@host:5432/database. Needs the package pg.",
    kind: "text",
    secret: "url",
  },
  layout: {
    description: 'Who writes the sessions: "connect" (connect-redis, connect-pg-simple) or "spring" (Spring Session).',
    kind: "text",
    default: "connect",
    schema: { enum: ["connect", "spring"] },
  },
  prefix: { description: "What the keys of connect-redis begin with. Default: sess:.", kind: "text" },
  namespace: { description: "The namespace of Spring Session in Redis. Default: spring:session." },
  indexed: { description: "Whether Spring's applications use the indexed repository. Default: seen from the keys." },
  index: { description: "Whether every application that writes the sessions keeps connect-actuator's index in Redis." },
  table: { description: "The table in PostgreSQL. Default: session, or SPRING_SESSION." },
  schema: { description: "The schema of that table." },
  timeZone: { description: "The time zone of the connections of the applications that use connect-pg-simple." },
  ttlMs: {
    kind: "milliseconds",
    description: "How long a session lives if its cookie does not say, as the application has it.",
  },
  principal: {
    description: 'Whose a session is: [["passport", "user"], ["userId"]].',
    kind: "json",
    schema: { type: "array", items: { type: "array", items: { type: "string" }, minItems: 1 } },
  },
  timeoutMs: { description: "To wait for an answer of the store.", default: 5_000 },
};

/** What is said of the graph of a sidecar. */
export const GRAPH_NOTES: Notes<GraphOptions> = {
  app: { description: "What the graph is called. Default: name." },
  brokers: { description: 'What brokers are called: { "rabbitmq://10.0.0.1:5672": "main" }.', kind: "texts" },
};

/** What is said of a fleet. */
export const FLEET_NOTES: Notes<FleetOptions> = {
  instances: {
    description: 'The actuators of the fleet: addresses, or [{ "url": "http://10.0.0.7:9001", "token": "…" }].',
    kind: "list",
    schema: {
      type: "array",
      minItems: 1,
      items: {
        oneOf: [
          { type: "string" },
          {
            type: "object",
            required: ["url"],
            additionalProperties: false,
            properties: { url: { type: "string" }, token: { type: "string" }, name: { type: "string" } },
          },
        ],
      },
    },
  },
  token: { description: "The token for every instance that has none of its own.", kind: "text", secret: true },
  ca: { description: "Certificates of authorities, as PEM.", kind: "text", secret: true },
  maxReconnectMs: { description: "The longest time between two attempts to reach an instance.", default: 10_000 },
  silenceMs: { description: "For how long an instance may be silent before it is asked anew.", default: 45_000 },
};
