import { isStore } from "../actuator-options.ts";
import { type Entry, originText } from "./entry.ts";
import type { Fault } from "./fault.ts";
import { withoutRivals } from "./rivals.ts";
import { nameOf } from "./setting.ts";
import type { Tree } from "./tree.ts";

/** Puts the entries of each source over those before it. A setting of a section that is switched off is a fault: it would have no effect. */
export function assembled(
  base: Tree,
  sources: readonly (readonly Entry[])[],
): { tree: Tree; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  let tree = base;
  for (const entries of sources) {
    tree = withoutRivals(tree, entries);
    // A switch comes before what it switches on.
    const ordered = [...entries].sort((a, b) => a.setting.at.length - b.setting.at.length);
    for (const entry of ordered) {
      const put = withValue(tree, entry.setting.at, entry);
      if (put !== undefined) tree = put;
      else {
        const section = entry.setting.at.slice(0, -1).join(".");
        const message = `${nameOf(entry.setting)} has no effect, because ${section} is false`;
        faults.push({ at: originText(entry.origin), message, setting: nameOf(entry.setting) });
      }
    }
  }
  return { tree, faults };
}

/** The tree with a value in its place; undefined where a section on the way is switched off. */
function withValue(tree: Tree, [name, ...rest]: readonly string[], entry: Entry): Tree | undefined {
  const before = tree[name!];
  if (rest.length === 0) {
    // A switch that is on, and a section that says nothing, keep what is said of a section that is there already.
    const isThere = typeof before === "object" && before !== null;
    const keeps = isThere && (entry.value === true || isEmpty(entry.value));
    return keeps ? tree : { ...tree, [name!]: entry.value };
  }
  if (before === false) return undefined;
  const section = withValue(sectionFrom(before), rest, entry);
  return section && { ...tree, [name!]: section };
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** What stands for a section in code may be `true`, or a store of sessions without options. */
function sectionFrom(value: unknown): Tree {
  if (typeof value !== "object" || value === null) return {};
  return isStore(value as never) ? { store: value } : (value as Tree);
}
