import type { Schema } from "./model.ts";

/** The text that a segment of a path can stand for. */
export const SEGMENT = {
  type: "string",
  minLength: 1,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f/\\\\]+$",
} as const satisfies Schema;
