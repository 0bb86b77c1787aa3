// @module-tag slow
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { requirement } from "../support/requirement.ts";
import { cli, cliEnv, MAIN } from "./cli-process.ts";
import { openShop } from "./shop.ts";

const COLOUR = /\x1b\[\d+m/;
const script = spawnSync("script", ["--version"], { encoding: "utf8" });

/** Runs a program to its end. */
async function shell(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { env: cliEnv(env), stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

const terminal = requirement("script, of util-linux,", /util-linux/.test(script.stdout ?? ""));

describe("colours", () => {
  test.each([
    ["none if the output goes to another program", {}, false],
    ["some with FORCE_COLOR", { FORCE_COLOR: "1" }, true],
    ["none if FORCE_COLOR is 0", { FORCE_COLOR: "0" }, false],
  ])("%s", async (_, env, coloured) => {
    const { url } = await openShop();
    const { stdout } = await cli(["loggers", "list", "--url", url], { env });
    expect(COLOUR.test(stdout)).toBe(coloured);
    expect(stdout.replace(/\x1b\[\d+m/g, "")).toMatch(/^LOGGER +LEVEL +ORIGIN\nROOT +INFO +configured\n/);
  });

  test("never in JSON", async () => {
    const { url } = await openShop();
    const { stdout } = await cli(["loggers", "list", "--json", "--url", url], { env: { FORCE_COLOR: "1" } });
    expect(stdout).not.toMatch(COLOUR);
  });

  describe.runIf(terminal)("on a terminal", () => {
    test.each([
      ["are there", {}, true],
      ["are not there if NO_COLOR is set", { NO_COLOR: "1" }, false],
      ["are not there on a dumb terminal", { TERM: "dumb" }, false],
    ])("%s", async (_, env, coloured) => {
      const { url } = await openShop();
      const line = `'${process.execPath}' '${MAIN}' loggers list --url ${url}`;
      const ended = await shell("script", ["-qec", line, "/dev/null"], { TERM: "xterm-256color", ...env });
      expect(ended.code).toBe(0);
      expect(ended.stdout).toContain("orders.payment");
      expect(COLOUR.test(ended.stdout)).toBe(coloured);
    });
  });
});

test.runIf(terminal)("on a terminal, a level that is held shows the time left until Ctrl-C is pressed", async () => {
  const { url, native } = await openShop();
  const line = `'${process.execPath}' '${MAIN}' loggers set orders debug --hold --for 5m --url ${url}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], { env: cliEnv({ TERM: "xterm" }), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    shown += text;
  });
  await expect.poll(() => shown).toMatch(/held: (5m|4m \d+s) left; Ctrl-C restores/);
  expect(native.orders!.level).toBe("debug");
  child.stdin.write("\x03");
  expect(await once(child, "close")).toEqual([130, null]);
  expect(shown).toMatch(/Restored orders: /);
  expect(native.orders!.level).toBe("info");
});

describe("a reader of the output", () => {
  test("that closes the pipe early causes no failure and no message", async () => {
    const { url, actuator } = await openShop();
    for (let i = 0; i < 9_000; i++) actuator.loggers!.setLevel(`a.long.name.of.a.logger.that.fills.pipes.${i}`, "WARN");
    const line = `set -o pipefail; "$0" "$@" | head -n 2`;
    const ended = await shell("bash", ["-c", line, process.execPath, MAIN, "loggers", "list", "--url", url]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout.split("\n")).toHaveLength(3);
  });

  test("gets everything, even if it is more than a pipe holds", async () => {
    const { url, actuator } = await openShop();
    for (let i = 0; i < 9_000; i++) actuator.loggers!.setLevel(`a.long.name.of.a.logger.that.fills.pipes.${i}`, "WARN");
    const line = `"$0" "$@" | (read -r first; wc -l)`;
    const ended = await shell("bash", [
      "-c",
      line,
      process.execPath,
      MAIN,
      "loggers",
      "list",
      "pipes",
      "a",
      "--url",
      url,
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(Number(ended.stdout)).toBeGreaterThan(9_000);
  });
});

test("what is written to a pipe is the same each time", async () => {
  const { url } = await openShop();
  const [one, other] = await Promise.all([0, 1].map(() => cli(["loggers", "list", "--url", url])));
  expect(one).toEqual(other);
});
