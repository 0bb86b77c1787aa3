import { OPTIONS, SESSIONS } from "../actuator-options.ts";
import { durationFromText } from "../common/duration.ts";
import { type Check, type Checks, type Facts, flag, flagOr, objectOf, option } from "../common/options.ts";
import { LISTEN } from "../server/listen-options.ts";
import { DESCRIPTIONS } from "./descriptions.ts";
import { CONFIGURED_FLEET } from "./fleet-options.ts";
import { GRAPH, STORE } from "./serve-options.ts";

/** How a value is written: as one string in the environment, and as JSON or YAML in a file. */
interface Writing {
  /** Reads the value from a variable of the environment; undefined if it is no such value. */
  fromText(text: string): unknown;
  /** What is wrong with such a text, as the rest of a sentence about it. */
  readonly expected: string;
  /** The JSON schema of such a value in a file. */
  readonly schema: object;
}

/** The kinds of values that a file and the environment can give. */
export type Kind = "text" | "flag" | "count" | "number" | "milliseconds" | "list" | "lists" | "texts" | "json";

const texts = { type: "array", items: { type: "string" } };
const number = (text: string) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined);
const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** By kind, how its values are written. */
export const WRITINGS: Readonly<Record<Kind, Writing>> = {
  text: { fromText: (text) => text, expected: "must be a string", schema: { type: "string", minLength: 1 } },
  flag: {
    fromText: (text) => FLAGS[text.toLowerCase()],
    expected: "must be true or false",
    schema: { type: "boolean" },
  },
  count: { fromText: number, expected: "must be a whole number", schema: { type: "integer", minimum: 0 } },
  number: { fromText: number, expected: "must be a number", schema: { type: "number", minimum: 0 } },
  milliseconds: {
    fromText: (text) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : durationFromText(text)),
    expected: "must be a duration such as 500ms, 90s, 10m or 1h30m, or a number of milliseconds",
    schema: {
      oneOf: [
        { type: "number", minimum: 0 },
        { type: "string", pattern: "^(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$", minLength: 2 },
      ],
    },
  },
  list: {
    fromText: (text) => {
      const entries = text.split(",").map((entry) => entry.trim());
      return entries.includes("") ? undefined : entries;
    },
    expected: "must be non-empty strings separated by commas",
    schema: texts,
  },
  lists: {
    fromText: json,
    expected: 'must be JSON such as {"web":["shop.web","shop.api"]}',
    schema: { type: "object", additionalProperties: texts },
  },
  texts: {
    fromText: json,
    expected: 'must be JSON such as {"name":"value"}',
    schema: { type: "object", additionalProperties: { type: "string" } },
  },
  json: { fromText: json, expected: "must be JSON", schema: {} },
};

/** An option that a file and the environment can set. */
export interface Setting extends Facts {
  /** The names that lead to it, from the outermost. */
  readonly at: readonly string[];
  readonly kind: Kind;
  readonly check: Check;
  readonly description: string;
}

/** Settings that belong together. */
export interface Section extends Facts {
  readonly at: readonly string[];
  readonly description: string;
  readonly members: ReadonlyMap<string, Setting | Section>;
  /** Its options that only code can pass. */
  readonly codeOnly: readonly string[];
  /** Set if the section can be true or false, or a word, as well. */
  readonly flag: Setting | undefined;
}

/** Options as a tree of plain objects. */
export type Tree = Readonly<Record<string, unknown>>;

/** Tells a section from a setting. */
export function isSection(member: Setting | Section): member is Section {
  return "members" in member;
}

/** The name of a setting in messages: `limits.maxConnections`. */
export function nameOf({ at }: Pick<Setting, "at">): string {
  return at.join(".");
}

/** The variable of the environment that holds a setting: `ACTUATOR_LIMITS_MAX_CONNECTIONS`. */
export function variableOf({ at }: Pick<Setting, "at">): string {
  const words = at.map((name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase());
  return ["ACTUATOR", ...words].join("_");
}

/** What is wrong with a setting that only `connect-actuator serve` reads, in the configuration of an application. */
export function serveOnlyFault(name: string): string {
  return `"${name}" is for connect-actuator serve; an application passes it in code`;
}

/** Every setting of a section and of its sections, in the order of the options. */
export function settingsOf(section: Section): Setting[] {
  const members = [...section.members.values()].flatMap((each) => (isSection(each) ? settingsOf(each) : [each]));
  return section.flag === undefined ? members : [section.flag, ...members];
}

/** Stands for a section that is given without any settings. */
export function emptySetting({ at, description, serveOnly }: Section): Setting {
  return { at, kind: "json", check: () => undefined, description, ...(serveOnly && { serveOnly }) };
}

/** Names that hold a secret whether or not their check says so. */
const SECRET_NAME = /password|passphrase|secret|^token$/i;

/** Derives a section from checks: an option is a setting if its check says what kind of value it takes. */
export function sectionOf(checks: Checks<object>, at: readonly string[] = [], facts: Facts = {}): Section {
  const members = new Map<string, Setting | Section>();
  const codeOnly: string[] = [];
  for (const [name, check] of Object.entries<Check>(checks as Readonly<Record<string, Check>>)) {
    const member = memberOf(check, [...at, name], facts.serveOnly);
    if (member === undefined) codeOnly.push(name);
    else members.set(name, member);
  }
  const description = DESCRIPTIONS[at.join(".")] ?? "";
  return { ...facts, at, description, members, codeOnly, flag: undefined };
}

function memberOf(check: Check, at: readonly string[], serveOnly: true | undefined): Setting | Section | undefined {
  const facts: Facts = { ...check.facts, ...(serveOnly && { serveOnly }) };
  const { shape } = check;
  if (shape?.kind === "object") {
    const section = sectionOf(shape.checks, at, facts);
    const { word } = shape;
    if (word !== undefined) return { ...section, flag: { ...section, ...oneWord(word) } };
    return shape.flag ? { ...section, flag: { ...section, kind: "flag", check: flag } } : section;
  }
  const kind = kindOf(check);
  const secret = SECRET_NAME.test(at.at(-1)!) ? { secret: true as const } : {};
  return kind && { ...secret, ...facts, at, kind, check, description: DESCRIPTIONS[at.join(".")] ?? "" };
}

function oneWord(word: string): Pick<Setting, "kind" | "check" | "schema"> {
  const check: Check = (value) => (value === word ? undefined : `must be "${word}" or an object of settings`);
  return { kind: "text", check, schema: { const: word } };
}

/** The kind of value that a check takes; undefined if only code can pass one. */
function kindOf({ shape }: Check): Kind | undefined {
  if (shape === undefined || shape.kind === "code" || shape.kind === "object") return undefined;
  if (shape.kind !== "list") return shape.kind;
  const of = shape.of.shape?.kind ?? "text";
  if (of === "code") return undefined;
  return of === "text" ? "list" : "json";
}

const serveOnly = { serveOnly: true } as const;

/** Everything that a file and the environment can set. */
export const SCHEMA: Section = sectionOf(
  {
    ...OPTIONS,
    sessions: objectOf({ ...SESSIONS, store: option(objectOf(STORE), serveOnly) }),
    listen: option(objectOf(LISTEN), { always: true }),
    graph: option(flagOr(GRAPH), serveOnly),
    fleet: objectOf(CONFIGURED_FLEET),
    fleetEngine: option(flag, { ...serveOnly, default: false }),
  } as Checks<object>,
  [],
  { always: true },
);

/** The JSON schema (draft 2020-12) of a configuration file, for editors: put its address or path under `$schema`. */
export function configurationSchema(): object {
  const { properties, ...rest } = sectionSchema(SCHEMA) as { properties: object };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "connect-actuator",
    ...rest,
    properties: { $schema: { type: "string" }, ...properties },
  };
}

function sectionSchema(section: Section): object {
  const properties = [...section.members].flatMap(([name, member]) => {
    if (isSection(member)) return [[name, sectionSchema(member)]];
    const own = [[name, settingSchema(member)]];
    if (member.secret === undefined) return own;
    return [...own, [`${name}File`, { type: "string", description: `The file that holds ${name}.`, minLength: 1 }]];
  });
  const object = { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
  const description = section.serveOnly ? `${section.description} For connect-actuator serve.` : section.description;
  if (section.flag === undefined) return { description, ...object };
  const { schema = WRITINGS.flag.schema } = section.flag;
  return { description, default: section.default, anyOf: [schema, object] };
}

function settingSchema(setting: Setting): object {
  return {
    description: `${setting.description} In the environment: ${variableOf(setting)}.`,
    ...(setting.schema ?? WRITINGS[setting.kind].schema),
    ...(setting.default !== undefined && { default: setting.default }),
  };
}
