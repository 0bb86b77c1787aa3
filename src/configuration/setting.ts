import type { Check, Checks } from "../common/options.ts";
import type { Kind } from "./kind.ts";

/** What is said of an option beyond its check, which stands beside the option itself. */
export interface Note {
  readonly description: string;
  /** Left out: what the check takes. */
  readonly kind?: Kind;
  /** The value in force where nobody says another; left out: none, or the description says it. */
  readonly default?: unknown;
  /** Never shown. `url`: shown without what could be a password. */
  readonly secret?: true | "url";
  /**
   * The path of a file: one in a configuration file counts from the folder of that file. `read`: it has to be there, unless the
   * value is an address or the content itself; `written`: it is made, in a folder that has to be there.
   */
  readonly path?: "read" | "written";
  /** A closer description of the value in a file than its kind gives. */
  readonly schema?: object;
}

/** Options that have options of their own. */
export interface SectionNote {
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: sections of every kind of options stand in one table.
  readonly notes: Notes<any>;
  /** Left out: the check of the option says them. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly checks?: Checks<any>;
  /** It can be true or false as well; this is what it is where nobody says anything. */
  readonly flag?: boolean;
  /** It is in force though nobody says anything of it. */
  readonly always?: true;
  /** Only `connect-actuator serve` knows it: an application says this in code. */
  readonly standalone?: true;
}

/** The schema of a list for which one text may stand. */
export const TEXT_OR_TEXTS = {
  oneOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }],
} as const;

/** An option that only code can give. */
export const CODE = "code";

/** By option, what is said of it. A test sees to it that no option is left out. */
export type Notes<Options> = { readonly [Name in keyof Options]?: Note | SectionNote | typeof CODE };

/** Something that can be said in a file and in the environment. */
export interface Setting extends Note {
  /** The names that lead to it, from the outermost. */
  readonly at: readonly string[];
  readonly kind: Kind;
  readonly check: Check;
  readonly standalone: boolean;
}

/** Settings that belong together. */
export interface Section {
  readonly at: readonly string[];
  readonly description: string;
  readonly members: ReadonlyMap<string, Setting | Section>;
  /** Its options that only code can give. */
  readonly codeOnly: readonly string[];
  /** What the options that it belongs to say of it as a whole. */
  readonly check: Check | undefined;
  /** Where the section can be true or false as well. */
  readonly flag: Setting | undefined;
  readonly always: boolean;
  readonly standalone: boolean;
}

/** Tells a section from a setting. */
export function isSection(member: Setting | Section): member is Section {
  return "members" in member;
}

/** How a setting is called in sentences: `limits.maxConnections`. */
export function nameOf({ at }: Pick<Setting, "at">): string {
  return at.join(".");
}

/** The variable of the environment that holds a setting: `ACTUATOR_LIMITS_MAX_CONNECTIONS`. */
export function variableOf({ at }: Pick<Setting, "at">): string {
  const words = at.map((name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase());
  return ["ACTUATOR", ...words].join("_");
}

/** What is wrong with a setting that only a sidecar has, where an application reads its configuration. */
export function standaloneFault(name: string): string {
  return `"${name}" is for connect-actuator serve; an application gives this in code`;
}
