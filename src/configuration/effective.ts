import { isSection, nameOf, type Section, type Setting, type Tree } from "./schema.ts";
import { type Entry, type Origin, originText, valueAt } from "./source.ts";
import { urlsIn } from "./url.ts";

/** A setting in force. */
export interface EffectiveSetting {
  /** Such as `limits.maxConnections`. */
  readonly setting: string;
  /** The value, or `<hidden>` for a secret. */
  readonly value: unknown;
  /** Where it comes from: `default`, `options`, `actuator.yaml:3:5` or `ACTUATOR_LIMITS_MAX_CONNECTIONS`. */
  readonly from: string;
}

/** Lists the settings in force with their origin, in the order of the schema; defaults only of sections that are in force. */
export function effectiveSettings(
  schema: Section,
  tree: Tree,
  base: Tree,
  entries: readonly Entry[],
): EffectiveSetting[] {
  const last = new Map(entries.map((entry) => [nameOf(entry.setting), entry]));

  function ofSection(section: Section, value: unknown): EffectiveSetting[] {
    const isThere = section.always || (typeof value === "object" && value !== null);
    const { flag } = section;
    if (!isThere) return flag === undefined ? [] : ofSetting(flag, value);
    const members = (value ?? {}) as Tree;
    const settings = [...section.members].flatMap(([name, member]) =>
      isSection(member) ? ofSection(member, members[name]) : ofSetting(member, members[name]),
    );
    return flag?.kind === "flag" && typeof value === "object" ? [...ofSetting(flag, true), ...settings] : settings;
  }

  function ofSetting(setting: Setting, value: unknown): EffectiveSetting[] {
    const name = nameOf(setting);
    if (value === undefined) {
      return setting.default === undefined ? [] : [{ setting: name, value: setting.default, from: "default" }];
    }
    const entry = last.get(name);
    const origin: Origin = entry?.origin ?? { from: valueAt(base, setting.at) === undefined ? "default" : "options" };
    return [{ setting: name, value: shown(setting, value, entry?.concealed ?? false), from: originText(origin) }];
  }

  return ofSection(schema, tree);
}

const HIDDEN = "<hidden>";
/** Names of members that are never shown, wherever they are. */
const SECRET_NAME = /token|password|passphrase|passwd|pwd|secret|credential|authorization|key$/i;

/** A value without secrets. */
function shown({ secret }: Setting, value: unknown, concealed: boolean): unknown {
  if (secret === "url" && typeof value === "string") return urlsIn(value).map(withoutCredentials).join(",");
  if (secret !== undefined || (concealed && typeof value !== "object")) return HIDDEN;
  return redacted(value, concealed);
}

function redacted(value: unknown, concealed: boolean): unknown {
  if (typeof value === "string") return value.includes("-----BEGIN") ? HIDDEN : withoutCredentials(value);
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, concealed));
  if (typeof value === "function") return "<function>";
  if (typeof value !== "object" || value === null) return value;
  if (Object.getPrototypeOf(value) !== null && Object.getPrototypeOf(value) !== Object.prototype) return "<object>";
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const hide = typeof member === "string" && (SECRET_NAME.test(name) || concealed);
      return [name, hide && name !== "url" ? HIDDEN : redacted(member, concealed)];
    }),
  );
}

/** A URL without user and password, and without a query, where some drivers take a password too. Other strings stay. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  // A password with a character that should have been encoded ends up in a path or behind a #.
  if (url === null || url.hash !== "" || /@/.test(url.pathname)) return HIDDEN;
  if (url.username === "" && url.password === "" && url.search === "") return text;
  const user = url.username === "" && url.password === "" ? "" : "***@";
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search === "" ? "" : "?***"}`;
}
