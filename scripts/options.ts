/**
 * Writes what is derived from the interfaces of options and their checks: the descriptions of settings in the JSON schema
 * (`src/configuration/descriptions.ts`) and `docs/reference/options.md`. Run `node scripts/options.ts` after a change of options.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isSection, SCHEMA, type Section, type Setting, variableOf } from "../src/configuration/schema.ts";

const root = join(import.meta.dirname, "..");

/** One option as its interface declares it. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly comment: string;
}

interface Declaration {
  readonly name: string;
  readonly file: string;
  readonly comment: string;
  readonly parents: readonly string[];
  readonly members: readonly Member[];
}

const INTERFACE =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export interface (\w+)(?: extends ([^{]+?))? \{\n([\s\S]*?)\n?^\}/gm;
const MEMBER =
  /(?:^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^ {2}readonly (\w+)(\??):\s([\s\S]*?);(?=\n {2}(?:\/\*\*|readonly|\w)|\s*$(?![\s\S]))/gm;

function declarations(): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const file of globSync("src/**/*.ts", { cwd: root }).sort()) {
    if (file.startsWith("src/gen/")) continue;
    for (const [, comment = "", name, parents = "", body] of readFileSync(join(root, file), "utf8").matchAll(
      INTERFACE,
    )) {
      const members = [...body!.matchAll(MEMBER)].map(([, comment = "", name, optional, type]) => ({
        name: name!,
        type: type!.replace(/\s+/g, " ").replace(/ \| undefined$/, ""),
        required: optional === "",
        comment: textOf(comment),
      }));
      const declaration = { name: name!, file, comment: textOf(comment), parents: parents.split(/,\s*/), members };
      if (!found.has(name!) || name!.endsWith("Options")) found.set(name!, declaration);
    }
  }
  return found;
}

/** A doc comment on one line, without the syntax of links, and without the sections after its text. */
function textOf(comment: string): string {
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, ""));
  return lines
    .join(" ")
    .replace(/\s@(?:example|throws|param|returns|default)\b.*$/, "")
    .replace(/\{@link (\S+?)\}/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

const all = declarations();

function membersOf({ members, parents }: Declaration): readonly Member[] {
  const inherited = parents.flatMap((name) => {
    const parent = all.get(name.trim());
    return parent === undefined ? [] : membersOf(parent);
  });
  const own = new Set(members.map(({ name }) => name));
  return [...inherited.filter(({ name }) => !own.has(name)), ...members];
}

/** The comments of all members of an interface, and of the interfaces of those members, by path. */
function comments(name: string, at: readonly string[], into: Map<string, Member>): Map<string, Member> {
  const declaration = all.get(name);
  if (declaration === undefined || at.length > 4) return into;
  for (const member of membersOf(declaration)) {
    const path = [...at, member.name];
    into.set(path.join("."), member);
    for (const [inner] of member.type.matchAll(/\b[A-Z]\w*\b/g)) {
      if (/Options$|^Limits$|Limits$|^JwtClaims$|^CallCredentials$/.test(inner)) comments(inner, path, into);
    }
  }
  return into;
}

const described = new Map<string, Member>();
comments("ActuatorOptions", [], described);
comments("ListenOptions", ["listen"], described);
comments("StoreOptions", ["sessions", "store"], described);
comments("GraphOptions", ["graph"], described);
comments("ConfiguredFleetOptions", ["fleet"], described);
comments("AccessOptions", ["access"], described);
comments("AuditFileOptions", ["audit"], described);

/** The sections that no interface has as a member. */
const SECTIONS: Readonly<Record<string, string>> = {
  "": "The configuration of connect-actuator.",
  listen: "Where to listen.",
  "sessions.store": "The store that other processes share.",
  fleetEngine:
    "Whether to keep fleets in memory for their instances, which dial it (`fleet.serve`). Callers need `fleet:join`. Default: false.",
  graph: "The graph of the services that send spans. Default: false.",
  fleet: "The fleet that this instance takes part in.",
};

function descriptionOf(path: string): string {
  return SECTIONS[path] ?? described.get(path)?.comment ?? "";
}

function pathsOf(section: Section): string[] {
  return [section, ...section.members.values()].flatMap((member) =>
    member === section || !isSection(member) ? [member.at.join(".")] : pathsOf(member),
  );
}

/** The generated file of descriptions. */
export function descriptions(): string {
  const lines = pathsOf(SCHEMA).map((path) => {
    return `  ${JSON.stringify(path)}: ${JSON.stringify(descriptionOf(path))},`;
  });
  return [
    "// Generated by scripts/options.ts from the comments of the interfaces of options; do not edit.",
    "",
    "/** The description of each setting and section of a configuration, by its path. */",
    "// biome-ignore format: generated, a line for each path",
    "export const DESCRIPTIONS: Readonly<Record<string, string>> = {",
    ...lines,
    "};",
    "",
  ].join("\n");
}

const cell = (text: string) => text.replaceAll("|", "\\|");
const code = (text: string) => `\`${cell(text)}\``;

function settingRow(setting: Setting): string {
  const name = setting.at.join(".");
  const member = described.get(name);
  const required = member?.required && setting.default === undefined ? " (required in its section)" : "";
  const value = setting.default === undefined ? "" : code(JSON.stringify(setting.default));
  return `| ${code(name)}${required} | ${value} | ${code(variableOf(setting))} | ${cell(descriptionOf(name))} |`;
}

function sectionRows(section: Section): string[] {
  const own = section.flag === undefined ? [] : [settingRow(section.flag)];
  const members = [...section.members.values()].flatMap((member) =>
    isSection(member) ? sectionRows(member) : [settingRow(member)],
  );
  const codeOnly = section.codeOnly.map((name) => {
    const path = [...section.at, name].join(".");
    return `| ${code(path)} | | in code only | ${cell(descriptionOf(path))} |`;
  });
  return [...own, ...members, ...codeOnly];
}

const exportsOf = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports as Record<
  string,
  { types?: string }
>;

/** Whether the entry in a folder exports from a file in another folder, other than the main entry. */
function reexports(folder: string, file: string): boolean {
  if (folder === "src") return false;
  const [, ...from] = readFileSync(join(root, folder, "index.ts"), "utf8").split(/^export [^;]*? from "/m);
  return from.some((text) => join(folder, text.slice(0, text.indexOf('"'))) === file);
}

/** The subpath that an application imports an interface of this file from. */
function subpathOf(file: string): string {
  const folders = Object.entries(exportsOf).flatMap(([subpath, { types }]) =>
    types === undefined ? [] : [[dirname(types.replace("./dist/", "src/")), subpath.slice(1)] as const],
  );
  const [best] = folders
    .filter(([folder]) => file.startsWith(`${folder}/`) || reexports(folder, file))
    .sort((a, b) => b[0].length - a[0].length);
  return `connect-actuator${best?.[1] ?? ""}`;
}

/** Interfaces of options that functions other than `createActuator` and `listen` take. */
function otherOptions(): Declaration[] {
  const inside = new Set(
    [...described.values()].flatMap(({ type }) => [...type.matchAll(/\b[A-Z]\w*\b/g)].map(([name]) => name)),
  );
  const places =
    /^src\/(adapters\/(?!kit\/)|integration-graph\/(graph|builder|merge|export\/)|sessions\/memory|http\/request-level\/)/;
  return [...all.values()]
    .filter(
      ({ name, file, members }) =>
        name.endsWith("Options") && members[0]!.comment !== "" && places.test(file) && !inside.has(name),
    )
    .sort((a, b) => subpathOf(a.file).localeCompare(subpathOf(b.file)) || a.name.localeCompare(b.name));
}

/** `docs/reference/options.md`. */
export function reference(): string {
  const header = ["| Option | Default | Environment | |", "| --- | --- | --- | --- |"];
  const sections = [...SCHEMA.members.values()].filter(isSection);
  const settings = [...SCHEMA.members.values()].flatMap((member) => (isSection(member) ? [] : [member]));
  const top = [
    ...settings.map(settingRow),
    ...SCHEMA.codeOnly.map((name) => `| ${code(name)} | | in code only | ${cell(descriptionOf(name))} |`),
  ];
  const others = otherOptions().flatMap((declaration) => [
    `### ${declaration.name}`,
    "",
    `From \`${subpathOf(declaration.file)}\`. ${declaration.comment}`,
    "",
    "| Option | Type | |",
    "| --- | --- | --- |",
    ...membersOf(declaration)
      .filter(({ type }) => type !== "undefined")
      .map(
        ({ name, type, required, comment }) =>
          `| ${code(name)}${required ? " (required)" : ""} | ${code(type)} | ${cell(comment)} |`,
      ),
    "",
  ]);
  return [
    "<!-- Generated by scripts/options.ts (npm run generate); do not edit. -->",
    "# Reference of options",
    "",
    "Every option with its default, its environment variable, and its meaning. [Configuration](../configuration.md) describes how files and",
    "the environment are read. Durations end in `Ms`: in code they are numbers of milliseconds; in files and the environment they may also be",
    "`90s`, `10m` or `1h30m`. An unknown option is an error that suggests the nearest name.",
    "",
    "## createActuator",
    "",
    "The options of `createActuator(options)`, which can also be set in a file and in the environment unless the table says otherwise.",
    "",
    ...header,
    ...top,
    "",
    ...sections.flatMap((section) => [
      `### ${section.at.join(".")}`,
      "",
      section.serveOnly
        ? `${descriptionOf(section.at.join("."))} Only for \`connect-actuator serve\`.`
        : descriptionOf(section.at.join(".")),
      "",
      ...header,
      ...sectionRows(section),
      "",
    ]),
    "## Other functions",
    "",
    ...others,
  ].join("\n");
}

/** The generated files, by path. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  "src/configuration/descriptions.ts": descriptions,
  "docs/reference/options.md": reference,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, content] of Object.entries(GENERATED)) {
    writeFileSync(join(root, file), content());
    console.log(`wrote ${relative(process.cwd(), join(root, file))}`);
  }
}
