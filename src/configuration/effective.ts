import { type Entry, originText } from "./entry.ts";
import { valueAt } from "./place.ts";
import { shown } from "./secret.ts";
import { isSection, nameOf, type Section, type Setting } from "./setting.ts";
import type { Tree } from "./tree.ts";

/** A setting in force. */
export interface Shown {
  /** Such as `limits.maxConnections`. */
  readonly setting: string;
  /** The value, where it may be shown. */
  readonly value: unknown;
  /** Who said it: `default`, `options`, `actuator.json:3:5` or `ACTUATOR_LIMITS_MAX_CONNECTIONS`. */
  readonly from: string;
}

/**
 * Every setting in force with who said it last, in the order of the schema; defaults only of sections that are there at all.
 */
export function effective(schema: Section, tree: Tree, base: Tree, entries: readonly Entry[]): Shown[] {
  const last = new Map(entries.map((entry) => [nameOf(entry.setting), entry]));

  function ofSection(section: Section, value: unknown): Shown[] {
    const isThere = section.always || (typeof value === "object" && value !== null);
    const { flag } = section;
    if (flag !== undefined && !isThere) return ofSetting(flag, value);
    if (!isThere) return [];
    const members = (value ?? {}) as Tree;
    const shownMembers = [...section.members].flatMap(([name, member]) =>
      isSection(member) ? ofSection(member, members[name]) : ofSetting(member, members[name]),
    );
    return flag !== undefined && typeof value === "object" ? [...ofSetting(flag, true), ...shownMembers] : shownMembers;
  }

  function ofSetting(setting: Setting, value: unknown): Shown[] {
    const name = nameOf(setting);
    if (value === undefined) {
      return setting.default === undefined ? [] : [{ setting: name, value: setting.default, from: "default" }];
    }
    const entry = last.get(name);
    const origin = entry?.origin ?? { from: valueAt(base, setting.at) === undefined ? "default" : "options" };
    const concealed = entry?.concealed ?? false;
    return [
      { setting: name, value: shown({ setting, value, concealed }), from: originText(origin as Entry["origin"]) },
    ];
  }

  return ofSection(schema, tree);
}
