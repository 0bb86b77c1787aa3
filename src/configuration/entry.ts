import type { Place } from "./json.ts";
import type { Setting } from "./setting.ts";

/** Who said a value. */
export type Origin =
  | { readonly from: "default" }
  | { readonly from: "options" }
  | { readonly from: "file"; readonly file: string; readonly place: Place | undefined }
  | { readonly from: "environment"; readonly variable: string };

/** A setting with the value that somebody gave it. */
export interface Entry {
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: Origin;
  /** The value, or a part of it, was read from a file of its own, as secrets are. */
  readonly concealed?: boolean;
}

/** In words: `actuator.json:3:5`, `ACTUATOR_LISTEN_PORT`, `options`, `default`. */
export function originText(origin: Origin): string {
  if (origin.from === "environment") return origin.variable;
  if (origin.from !== "file") return origin.from;
  const { file, place } = origin;
  return place === undefined ? file : `${file}:${place.line}:${place.column}`;
}
