import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { cli } from "./cli-process.ts";

const commands = leaves(createProgram());

describe("help", () => {
  test.each(commands.map((words) => ({ words, title: words.join(" ") })))("of $title", async ({ words }) => {
    const asked = await cli([...words, "--help"]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked.stdout).toMatch(new RegExp(`^Usage: connect-actuator ${words.join(" ")}\\b`));
    expect(asked.stdout).toMatch(/\n {2}--url <url>.*\nExamples:\n {2}\S/s);
    expect(asked.stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
    const [, after = ""] = asked.stdout.split("\nExamples:\n");
    expect(after.split("\n").find((line) => !line.startsWith("  "))).toBe("");
  });

  test("names every command", async () => {
    const { code, stdout } = await cli(["--help"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
    for (const name of new Set(commands.map(([first]) => first))) expect(stdout).toMatch(new RegExp(`\\n  ${name}\\b`));
  });

  test("is asked for in two ways", async () => {
    expect((await cli(["help", "loggers"])).stdout).toBe((await cli(["loggers", "--help"])).stdout);
  });
});

test.each(commands.map((words) => ({ words, title: words.join(" ") })))(
  "the examples of $title are command lines that can be typed",
  ({ words }) => {
    const lines = examplesOf(words);
    expect(lines.length > 0).toBe(words[0] !== "completion");
    for (const line of lines) {
      const program = createProgram();
      unhand(program);
      expect(() => program.parse(line, { from: "user" }), line.join(" ")).not.toThrow();
    }
  },
);

test.each([
  ["fleet", "DATABASE_URL, or"],
  ["sessions", "DATABASE_URL or REDIS_URL, or"],
])("%s prepare names the variables of its stores", async (group, variables) => {
  const { stdout } = await cli([group, "prepare", "--help"]);
  expect(stdout.slice(stdout.indexOf("Examples:"))).toContain(`set ${variables}`);
});

test("the version is that of the package", async () => {
  expect(await cli(["--version"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

function leaves(command: Command, before: readonly string[] = []): string[][] {
  return command.commands.flatMap((each) => {
    const words = [...before, each.name()];
    return each.commands.length === 0 ? [words] : leaves(each, words);
  });
}

/** Takes the actions away, so that a command line is only read. */
function unhand(command: Command): void {
  command.configureOutput({ writeErr: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  for (const each of command.commands) unhand(each);
}

/** The words of the examples, as a shell would split them; it finds files by a `*`, and takes a line to a file away. */
function examplesOf(words: readonly string[]): string[][] {
  let command = createProgram();
  for (const word of words) command = command.commands.find((each) => each.name() === word)!;
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const lines = [...help.matchAll(/^ {2}(?:# .*\n {2})?connect-actuator (.*?)(?: > \S+)?$/gm)].map(([, line]) => line!);
  for (const line of lines) expect(line.replace(/"[^"]*"|'[^']*'/g, "")).not.toContain("*");
  return lines.map((line) => line.match(/"[^"]*"|'[^']*'|\S+/g)!.map((word) => word.replace(/^(["'])(.*)\1$/, "$2")));
}
