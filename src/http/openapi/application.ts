import type { EndpointPart } from "./model.ts";
import { problems } from "./problems.ts";
import { shown } from "./responses.ts";

const link = (path: string) => ({ href: `http://127.0.0.1:9090/actuator${path}`, templated: path.includes("{") });

const INDEX = {
  _links: {
    self: link(""),
    health: link("/health"),
    loggers: link("/loggers"),
    "loggers-name": link("/loggers/{name}"),
  },
};

/** What there is, and what it is called. */
export const APPLICATION: EndpointPart = {
  tag: { name: "application", description: "The application itself." },
  schemas: {
    Index: {
      description: "Where everything is, under the names that monitoring servers look for.",
      type: "object",
      properties: {
        _links: {
          type: "object",
          properties: { self: { $ref: "#/components/schemas/IndexLink" } },
          required: ["self"],
          additionalProperties: { $ref: "#/components/schemas/IndexLink" },
        },
      },
      required: ["_links"],
      additionalProperties: false,
    },
    IndexLink: {
      description: "An address.",
      type: "object",
      properties: {
        href: { description: "An absolute URL; a parameter stands in braces.", type: "string", pattern: "^https?://" },
        templated: { description: "Whether the URL has a parameter.", type: "boolean" },
      },
      required: ["href", "templated"],
      additionalProperties: false,
    },
    Info: {
      description: "What the application says of itself.",
      type: "object",
      properties: {
        name: { description: "Its name, where one is configured.", type: "string" },
        version: { description: "Its version, where one is configured.", type: "string" },
        uptime: { description: "Seconds since the actuator was created.", type: "number", minimum: 0 },
      },
      required: ["uptime"],
      additionalProperties: false,
    },
  },
  operations: {
    "GET ": {
      operationId: "readIndex",
      summary: "The index",
      description: "What is served, with absolute addresses as the caller sees them.",
      responses: { 200: shown("Index", "What is served.", "An index", INDEX), ...problems("NotAcceptable") },
    },
    "GET /info": {
      operationId: "readInfo",
      summary: "The application's name and version",
      description: "And for how long it has been running.",
      responses: {
        200: shown("Info", "What the application says of itself.", "A shop", {
          name: "shop",
          version: "1.2.3",
          uptime: 86_400.5,
        }),
        ...problems("NotAcceptable"),
      },
    },
  },
};
