import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { blocksOf, PAGES, root, spansOf, textOf } from "./pages.ts";
import { commandLines } from "./shell.ts";

const NAME = "connect-actuator";
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const inBlocks = blocksOf("sh", "text").flatMap(({ page, line, code }) =>
  commandLines(code, NAME)
    // The reference shows how each command is used, with placeholders.
    .filter((words) => !words.includes("[options]"))
    .map((words) => ({ page, line, words, text: words.join(" ") })),
);
const inProse = PAGES.flatMap((page) =>
  spansOf(page).flatMap(({ text, line }) =>
    commandLines(text, NAME).map((words) => ({ page, line, words, text: words.join(" ") })),
  ),
);

describe("command lines in blocks", () => {
  test("are there", () => expect(inBlocks.length).toBeGreaterThan(30));

  test.each(inBlocks)("$page:$line: $text", async ({ words }) => {
    expect(await faultOf(words)).toBeUndefined();
  });
});

describe("command lines in prose, where arguments may be left out", () => {
  test("are there", () => expect(inProse.length).toBeGreaterThan(10));

  test.each(inProse)("$page:$line: $text", async ({ words }) => {
    // `token create|list|revoke` are three.
    for (const last of words.at(-1)?.split("|") ?? []) {
      const fault = await faultOf([...words.slice(0, -1), last]);
      if (fault !== undefined) expect(fault).toMatch(/^(error: missing|error: required option|Usage:)/);
    }
  });
});

test("the options that the page of the command line tells are there", () => {
  const known = new Set(optionsWithin(createProgram()));
  const ofOthers = ["--global", "--import", "--unix-socket"];
  const told = [
    ...`${textOf("docs/cli.md")}${textOf("docs/reference/cli.md")}`.matchAll(/(?<![\w-])--[a-z][a-z-]*/g),
  ].map(([option]) => option);
  expect(told.length).toBeGreaterThan(50);
  expect([...new Set(told)].filter((option) => !known.has(option) && !ofOthers.includes(option))).toEqual([]);
});

test("the scripts and benchmarks that pages run are there", () => {
  const texts = [
    ...blocksOf("sh", "text").map(({ code }) => code),
    ...PAGES.flatMap((page) => spansOf(page)).map(({ text }) => text),
  ];
  const told = texts.flatMap((text) => [
    ...text.matchAll(/\bnpm (?:run ([\w-]+)|(test|start))(?: -- ([a-z][\w-]*))?/g),
  ]);
  expect(told.length).toBeGreaterThan(10);
  for (const [line, script, short, benchmark] of told) {
    // The example in Node.js has a package of its own.
    expect([...Object.keys(scripts), "generate"], line).toContain(script ?? short);
    if (script === "bench" && benchmark !== undefined) {
      expect(existsSync(join(root, "bench", `${benchmark}.ts`)), line).toBe(true);
    }
  }
});

/** What the command line's own tables say against it; no command is run. */
async function faultOf(words: readonly string[]): Promise<string | undefined> {
  const program = createProgram();
  let printed = "";
  for (const command of commandsWithin(program)) {
    if (command.commands.length === 0) command.action(() => {});
    const take = (text: string) => void (printed += text);
    command.configureOutput({ writeOut: take, writeErr: take, outputError: take });
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === "commander.version" || error.code === "commander.helpDisplayed"
      ? undefined
      : printed || error.message;
  }
}

function commandsWithin(command: Command): Command[] {
  return [command, ...command.commands.flatMap((each) => commandsWithin(each))];
}

function optionsWithin(program: Command): string[] {
  const options = commandsWithin(program).flatMap(({ options }) => options.map(({ long }) => long!));
  return [...options, "--help", "--version"];
}
