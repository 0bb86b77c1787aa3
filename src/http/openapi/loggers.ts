import { header, usualHeaders } from "./headers.ts";
import { LOGGER_SCHEMAS } from "./loggers-schemas.ts";
import { actuatorContent } from "./media-types.ts";
import type { EndpointPart, Parameter } from "./model.ts";
import { BODY_PROBLEMS, problems } from "./problems.ts";
import { IF_NONE_MATCH, nothing, notModified } from "./responses.ts";

const NAME: Parameter = {
  name: "name",
  in: "path",
  required: true,
  description:
    "A logger or a group; a group wins. At most 512 bytes of UTF-8, case-sensitive, one segment of the path: percent-encode whatever a path cannot hold, `;` included, since what follows a plain `;` is cut off. `:` separates names as `.` does. `ROOT`, in any case, is the root logger.",
  schema: { $ref: "#/components/schemas/LoggerName" },
  examples: {
    logger: { summary: "A logger", value: "com.example" },
    root: { summary: "The root logger", value: "ROOT" },
    group: { summary: "A group", value: "web" },
  },
};

const OVERVIEW = {
  levels: ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"],
  loggers: {
    ROOT: { configuredLevel: "INFO", effectiveLevel: "INFO" },
    com: { effectiveLevel: "INFO" },
    "com.example": { configuredLevel: "DEBUG", effectiveLevel: "DEBUG" },
  },
  groups: { web: { members: ["http", "express"] }, test: { configuredLevel: "INFO", members: ["test.one"] } },
};

/** The loggers and their levels. */
export const LOGGERS: EndpointPart = {
  tag: { name: "loggers", description: "The application's loggers, groups of them, and their levels." },
  schemas: LOGGER_SCHEMAS,
  operations: {
    "GET /loggers": {
      operationId: "listLoggers",
      summary: "All loggers and groups",
      description: "ROOT comes first, then the names in the order of their UTF-16 code units.",
      parameters: [IF_NONE_MATCH],
      responses: {
        200: {
          description: "The loggers and groups with their levels.",
          headers: { ...usualHeaders("NoCache"), ETag: header("ETag") },
          content: actuatorContent({
            schema: { $ref: "#/components/schemas/LoggersOverview" },
            examples: { overview: { summary: "Three loggers and two groups", value: OVERVIEW } },
          }),
        },
        304: notModified(),
        ...problems("NotAcceptable"),
      },
    },
    "GET /loggers/{name}": {
      operationId: "readLogger",
      summary: "One logger or group",
      description: "A logger shows its levels, a group its members.",
      parameters: [NAME],
      responses: {
        200: {
          description: "The logger or group.",
          headers: { ...usualHeaders("NoCache"), "Content-Disposition": header("ContentDisposition") },
          content: actuatorContent({
            schema: {
              oneOf: [{ $ref: "#/components/schemas/Logger" }, { $ref: "#/components/schemas/LoggerGroup" }],
            },
            examples: {
              logger: { summary: "A logger", value: { configuredLevel: "INFO", effectiveLevel: "INFO" } },
              inherits: { summary: "A logger that inherits its level", value: { effectiveLevel: "INFO" } },
              group: {
                summary: "A group",
                value: { configuredLevel: "INFO", members: ["test.member1", "test.member2"] },
              },
            },
          }),
        },
        404: nothing("The name is neither a logger nor a group. There is no body."),
        ...problems("NotAcceptable"),
      },
    },
    "POST /loggers/{name}": {
      operationId: "writeLevel",
      summary: "Sets or clears a level",
      description:
        "Of a logger, which is made where it is unknown, or of every member of a group. Clearing lets it inherit again; ROOT returns to the level that the application started with. A body without any bytes clears too, and still needs its Content-Type.",
      parameters: [NAME],
      requestBody: {
        description: "The level, in UTF-8; at most 64 KiB.",
        required: true,
        content: actuatorContent({
          schema: { $ref: "#/components/schemas/LevelChange" },
          examples: {
            set: { summary: "Sets a level", value: { configuredLevel: "debug" } },
            clear: { summary: "Inherits again", value: { configuredLevel: null } },
          },
        }),
      },
      responses: {
        204: {
          ...nothing("The level is set, or cleared. There is no body."),
          links: {
            written: {
              operationId: "readLogger",
              description: "The logger whose level was set.",
              parameters: { name: "$request.path.name" },
            },
          },
        },
        ...problems("MethodNotAllowed", "InsufficientStorage", ...BODY_PROBLEMS),
      },
    },
  },
};
