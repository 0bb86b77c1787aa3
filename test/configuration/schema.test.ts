import { Ajv2020 } from "ajv/dist/2020.js";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { callable, codeOnly, count, flag, listOf, objectOf, text, timerMs, unknown } from "../../src/common/options.ts";
import { COMMAND_LINE_VARIABLES } from "../../src/configuration/environment.ts";
import { configurationSchema } from "../../src/configuration/index.ts";
import {
  isSection,
  nameOf,
  SCHEMA,
  type Section,
  sectionOf,
  settingsOf,
  variableOf,
} from "../../src/configuration/schema.ts";

const settings = settingsOf(SCHEMA);

/** The options that only code can give. A further one is a decision, and so is named here. */
const IN_CODE = [
  "logs.redact",
  "integrationGraph",
  "fleet.role",
  "onError",
  "access.authorize",
  "access.reauthorizeIntervalMs",
  "health.checks",
  "loggers.adapters",
  "loggers.onLevelChange",
];

describe("the schema leaves no option out", () => {
  test("what only code can give is what is known to be so", () => {
    const codeOnlyIn = (section: Section): string[] => [
      ...section.codeOnly.map((name) => [...section.at, name].join(".")),
      ...[...section.members.values()].filter(isSection).flatMap(codeOnlyIn),
    ];
    const known = new Set(IN_CODE);
    expect(codeOnlyIn(SCHEMA).filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(settings.map((setting) => [nameOf(setting), setting] as const))("%s is described", (_, setting) => {
    expect(setting.description).toMatch(/^[A-Z].*[.}]$/);
  });

  test("each has a variable of its own, which is none of the command line's", () => {
    const variables = settings.map(variableOf);
    const withFiles = settings
      .filter(({ secret }) => secret !== undefined)
      .map((setting) => `${variableOf(setting)}_FILE`);
    const all = [...variables, ...withFiles, ...COMMAND_LINE_VARIABLES];
    expect(new Set(all).size).toBe(all.length);
  });

  test("what the command line reads is known", () => {
    const commands = (command: Command): Command[] => [command, ...command.commands.flatMap(commands)];
    const options = commands(createProgram()).flatMap((command) => command.options);
    const variables = new Set(options.flatMap(({ envVar }) => (envVar?.startsWith("ACTUATOR_") ? [envVar] : [])));
    expect(variables).toEqual(COMMAND_LINE_VARIABLES);
  });

  test("a default passes the check that stands beside the option", () => {
    const wrong = settings.filter(({ default: value, check }) => value !== undefined && check(value) !== undefined);
    expect(wrong.map(nameOf)).toEqual([]);
  });
});

test("an option is a setting if its check says what kind of value it takes", () => {
  const checks = {
    name: text,
    on: flag,
    most: count,
    waitMs: timerMs,
    names: listOf(text),
    more: objectOf({ name: text }),
    listener: callable,
    whatever: unknown,
    inCode: codeOnly(text),
    password: text,
  };
  const { members, codeOnly: inCode } = sectionOf(checks);
  const kinds = [...members].map(([name, member]) => [name, isSection(member) ? "section" : member.kind]);
  expect(Object.fromEntries(kinds)).toEqual({
    name: "text",
    on: "flag",
    most: "count",
    waitMs: "milliseconds",
    names: "list",
    more: "section",
    password: "text",
  });
  expect(members.get("password")).toMatchObject({ secret: true });
  expect(inCode).toEqual(["listener", "whatever", "inCode"]);
});

describe("the JSON Schema for editors", () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(
    configurationSchema(),
  );

  test.each([
    [{}],
    [{ $schema: "./actuator.schema.json", name: "shop", listen: { port: 9001 }, otlp: true }],
    [{ otlp: { maxNodes: 5 }, heartbeatMs: "10s", limits: { drainDeadlineMs: 5_000 } }],
    [{ sessions: { idKeyFile: "id.key", store: { redis: "redis://localhost" } } }],
    [{ fleet: { redis: "redis://a", labels: { zone: "eu" }, peers: { hosts: ["10.0.0.7"], tokenFile: "t" } } }],
    [{ admin: { url: "http://admin:8080", passwordFile: "admin.password" } }],
    [{ loggers: { groups: { web: ["a", "b"] }, maxTtlMs: "1h30m" } }],
  ])("takes %j", (file) => {
    validate(file);
    expect(validate.errors).toBeNull();
  });

  test.each([
    [{ nmae: "shop" }],
    [{ listen: { port: "9001" } }],
    [{ listen: { port: 70_000 } }],
    [{ heartbeatMs: "10 seconds" }],
    [{ otlp: "yes" }],
    [{ sessions: { ids: "plain" } }],
    [{ loggers: { groups: { web: "a" } } }],
  ])("refuses %j", (file) => expect(validate(file)).toBe(false));
});
