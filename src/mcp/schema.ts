import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Level } from "../gen/actuator/v3/level_pb.ts";
import type { JsonSchema } from "./tool.ts";

/** The names of levels, as clients write them. */
export const LEVEL_NAMES = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] as const;

/** The name of a level. */
export type LevelName = (typeof LEVEL_NAMES)[number];

/** The level of a name. */
export function levelOf(name: LevelName): Level {
  return Level[name];
}

/** The name of a level; undefined for none. */
export function levelName(level: Level): string | undefined {
  return nameIn(Level, level);
}

/** The name of a value of an enumeration; undefined for UNSPECIFIED and for one that is not known. */
export function nameIn(values: Readonly<Record<string, number>>, value: number): string | undefined {
  return value === 0 ? undefined : Object.keys(values).find((name) => values[name] === value);
}

/** The schema of the names of an enumeration. */
export function namesOf(values: Readonly<Record<string, number>>): JsonSchema {
  return { type: "string", enum: Object.keys(values).filter((name) => values[name] !== 0) };
}

/** A time as text; undefined for none. */
export function timeText(time: Timestamp | undefined): string | undefined {
  return time && timestampDate(time).toISOString();
}

export const TEXT: JsonSchema = { type: "string" };
export const COUNT: JsonSchema = { type: "integer", minimum: 0 };
export const NUMBER: JsonSchema = { type: "number" };
export const FLAG: JsonSchema = { type: "boolean" };
export const LEVEL: JsonSchema = { type: "string", enum: LEVEL_NAMES };

/** The schema of a list. */
export function listOf(items: JsonSchema, description?: string): JsonSchema {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

/** The schema of an object of which every property may be missing. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties };
}

/** The schema with a description. */
export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/** The schema of a number of things. */
export function upTo(maximum: number, fallback: number, description: string): JsonSchema {
  return { type: "integer", minimum: 1, maximum, default: fallback, description };
}

/** The name of a logger or group. */
export const NAME: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 512,
  description: "The name of a logger, such as orders.payment, of a group, or ROOT.",
};

/** Why something is changed. */
export const REASON: JsonSchema = {
  type: "string",
  minLength: 3,
  maxLength: 500,
  description: "Why, for operators who read the history of levels.",
};

/** The reason in the history, which shows that an agent gave it. */
export function reasonText(reason: string): string {
  return `MCP: ${reason.replace(/\p{Cc}+/gu, " ")}`;
}
