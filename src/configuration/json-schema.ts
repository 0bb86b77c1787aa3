import { WRITINGS } from "./kind.ts";
import { SCHEMA } from "./notes/root.ts";
import { isSection, type Section, type Setting, variableOf } from "./setting.ts";

/** The JSON Schema (draft 2020-12) of a configuration file, for editors: put its address or path under `$schema`. */
export function configurationSchema(): object {
  const { properties, ...rest } = ofSection(SCHEMA) as { properties: object };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "connect-actuator",
    ...rest,
    properties: { $schema: { type: "string" }, ...properties },
  };
}

function ofSection(section: Section): object {
  const properties = [...section.members].flatMap(([name, member]) => {
    if (isSection(member)) return [[name, ofSection(member)]];
    const own = [[name, ofSetting(member)]];
    if (member.secret === undefined) return own;
    return [...own, [`${name}File`, { type: "string", description: `The file that holds ${name}.`, minLength: 1 }]];
  });
  const object = { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
  const description = section.standalone ? `${section.description} For connect-actuator serve.` : section.description;
  if (section.flag === undefined) return { description, ...object };
  return { description, default: section.flag.default, anyOf: [{ type: "boolean" }, object] };
}

function ofSetting(setting: Setting): object {
  const { description, kind, schema } = setting;
  return {
    description: `${description} In the environment: ${variableOf(setting)}.`.trim(),
    ...(schema ?? WRITINGS[kind].schema),
    ...(setting.default !== undefined && { default: setting.default }),
  };
}
