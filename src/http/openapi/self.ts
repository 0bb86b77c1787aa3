import { header, usualHeaders } from "./headers.ts";
import type { EndpointPart } from "./model.ts";
import { IF_NONE_MATCH, notModified } from "./responses.ts";

/** The document of itself. */
export const SELF: EndpointPart = {
  tag: { name: "openapi", description: "This document." },
  operations: {
    "GET /openapi.json": {
      operationId: "readOpenApi",
      summary: "This document",
      description: "It describes what this server serves, under the address that the caller sees.",
      parameters: [IF_NONE_MATCH],
      responses: {
        200: {
          description: "A document of OpenAPI 3.1.",
          headers: { ...usualHeaders("NoCache"), ETag: header("ETag") },
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: {
                  openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" },
                  info: { type: "object" },
                  paths: { type: "object" },
                  components: { type: "object" },
                },
                required: ["openapi", "info", "paths", "components"],
              },
              example: { openapi: "3.1.1", info: { title: "shop", version: "3" }, paths: {}, components: {} },
            },
          },
        },
        304: notModified(),
      },
    },
  },
};
