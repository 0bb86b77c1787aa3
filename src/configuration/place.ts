import { originText } from "./entry.ts";
import type { Reading } from "./file.ts";
import { nameOf } from "./setting.ts";
import type { Tree } from "./tree.ts";

/**
 * Where something is said of a setting: by the last source that gives it a value, or else of the nearest section that it belongs
 * to. What nobody says anything of is the configuration's.
 */
export function placeOf(setting: string, readings: readonly Reading[], base: Tree): string {
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

/** What a tree has at the end of a way. */
export function valueAt(tree: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((value, name) => (value as Tree | undefined)?.[name], tree);
}
