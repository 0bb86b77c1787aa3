import { LEVELS } from "../../loggers/level.ts";
import type { Schema } from "./model.ts";
import { SEGMENT } from "./segment.ts";

const level: Schema = { $ref: "#/components/schemas/Level" };

/** What JavaScript trims: a text of nothing else is as good as none. */
const BLANK = "^[\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*$";

/** What the endpoint of the loggers reads and shows. */
export const LOGGER_SCHEMAS: Readonly<Record<string, Schema>> = {
  Level: {
    description: "A level, from nothing to everything: a logger lets through what is at least as severe.",
    type: "string",
    enum: LEVELS,
  },
  LoggerName: {
    description: "The name of a logger or group.",
    ...SEGMENT,
    maxLength: 512,
  },
  Logger: {
    description: "A logger. Without `configuredLevel` it inherits its level.",
    type: "object",
    properties: {
      configuredLevel: { ...(level as object), description: "The level configured on the logger." },
      effectiveLevel: { ...(level as object), description: "The level in effect." },
    },
    required: ["effectiveLevel"],
    additionalProperties: false,
  },
  LoggerGroup: {
    description: "A group of loggers.",
    type: "object",
    properties: {
      configuredLevel: { ...(level as object), description: "The level last set through the group." },
      members: { description: "Names of loggers.", type: "array", items: { type: "string" } },
    },
    required: ["members"],
    additionalProperties: false,
  },
  LoggersOverview: {
    description: "All loggers and groups by name.",
    type: "object",
    properties: {
      levels: {
        description: "The levels that there are, from nothing to everything.",
        type: "array",
        items: level,
        const: LEVELS,
      },
      loggers: {
        type: "object",
        properties: { ROOT: { $ref: "#/components/schemas/Logger" } },
        required: ["ROOT"],
        additionalProperties: { $ref: "#/components/schemas/Logger" },
      },
      groups: { type: "object", additionalProperties: { $ref: "#/components/schemas/LoggerGroup" } },
    },
    required: ["levels", "loggers", "groups"],
    additionalProperties: false,
  },
  LevelChange: {
    description:
      "The level to set. Null in the place of the whole or of the level, a blank text, and nothing at all clear it. Other properties are ignored.",
    type: ["object", "null"],
    properties: {
      configuredLevel: {
        anyOf: [
          level,
          { $ref: "#/components/schemas/LevelText" },
          { description: "Blank: clears the level.", type: "string", pattern: BLANK },
          { description: "`false` is OFF, since YAML reads `off` as false.", const: false },
          { description: "Clears the level.", type: "null" },
        ],
      },
    },
  },
  LevelText: {
    description:
      "A level as people write it: in any case, and with whatever is neither letter nor digit between the letters, such as `debug`, ` Debug ` and `d-e_b u g`; `false` is OFF. The pattern shows spaces, dots, hyphens and underscores only.",
    type: "string",
    pattern: `^[ ._-]*(${[...LEVELS, "FALSE"].map(spelled).join("|")})$`,
    examples: ["debug", " Debug ", "d-e_b u g"],
  },
};

function spelled(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toLowerCase()}][ ._-]*`).join("");
}
