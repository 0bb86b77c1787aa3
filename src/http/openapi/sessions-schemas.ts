import type { Schema } from "./model.ts";
import { SEGMENT } from "./segment.ts";

/** What the endpoint of the sessions reads and shows. */
export const SESSION_SCHEMAS: Readonly<Record<string, Schema>> = {
  SessionId: {
    description: "The identifier of a session.",
    ...SEGMENT,
  },
  Session: {
    description: "An HTTP session.",
    type: "object",
    properties: {
      id: { description: "What the session is called here.", type: "string", minLength: 1 },
      attributeNames: {
        description: "Names of what the application keeps in the session.",
        type: "array",
        items: { type: "string" },
      },
      creationTime: { $ref: "#/components/schemas/Timestamp" },
      lastAccessedTime: { $ref: "#/components/schemas/Timestamp" },
      maxInactiveInterval: {
        description: "Seconds of inactivity after which it expires; negative: never. Left out where nobody knows.",
        type: "integer",
      },
      expired: { description: "Whether it has expired, though the store still holds it.", type: "boolean" },
    },
    required: ["id", "attributeNames", "creationTime", "lastAccessedTime", "expired"],
    additionalProperties: false,
  },
  SessionsResult: {
    description: "The sessions of a user.",
    type: "object",
    properties: { sessions: { type: "array", items: { $ref: "#/components/schemas/Session" } } },
    required: ["sessions"],
    additionalProperties: false,
  },
};
