import type { Fault } from "../common/error.ts";
import { nameOf, type Setting } from "./schema.ts";

/** A position in a file, each counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where a value comes from. */
export type Origin =
  | { readonly from: "default" }
  | { readonly from: "options" }
  | { readonly from: "file"; readonly file: string; readonly place: Place | undefined }
  | { readonly from: "environment"; readonly variable: string };

/** A setting with the value that a source gives it. */
export interface Entry {
  readonly setting: Setting;
  readonly value: unknown;
  readonly origin: Origin;
  /** The value, or a part of it, was read from a file of its own, as secrets are. */
  readonly concealed?: boolean;
}

/** What a source of settings contains, and what is wrong with it. */
export interface Reading {
  readonly entries: readonly Entry[];
  readonly faults: readonly Fault[];
  /** Where it has a section, if it does. */
  placeOfSection(path: string): string | undefined;
}

/** An origin in words: `actuator.yaml:3:5`, `ACTUATOR_LISTEN_PORT`, `options`, `default`. */
export function originText(origin: Origin): string {
  if (origin.from === "environment") return origin.variable;
  if (origin.from !== "file") return origin.from;
  const { file, place } = origin;
  return place === undefined ? file : `${file}:${place.line}:${place.column}`;
}

/**
 * Where a setting is given: by the last source with a value for it, or else where the nearest section is that it belongs to.
 *
 * @param base what the application passed in code
 */
export function placeOf(setting: string, readings: readonly Reading[], base: unknown): string {
  const names = setting.split(".");
  for (let length = names.length; length > 0; length--) {
    const at = names.slice(0, length);
    const path = at.join(".");
    const entry = readings.flatMap(({ entries }) => entries).findLast((each) => nameOf(each.setting) === path);
    if (entry !== undefined) return originText(entry.origin);
    const place = readings.map((reading) => reading.placeOfSection(path)).find((each) => each !== undefined);
    if (place !== undefined) return place;
    if (valueAt(base, at) !== undefined) return "options";
  }
  return readings.map((reading) => reading.placeOfSection("")).find((each) => each !== undefined) ?? "configuration";
}

/** The value at the end of a path in a tree. */
export function valueAt(tree: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], tree);
}
