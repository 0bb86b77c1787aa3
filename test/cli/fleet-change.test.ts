// @module-tag slow
import { describe, expect, test } from "vitest";
import { requirement } from "../support/requirement.ts";
import { CliProcess, cli } from "./cli-process.ts";
import { openFleet } from "./fleet-shop.ts";
import { scriptFound, typed } from "./terminal.ts";

const words = (...args: string[]) => ["fleet", ...args];

describe("the statuses", () => {
  test("say that no instance has the logger, and which one was probably meant", async () => {
    const { url } = await openFleet();
    const set = await cli(words("set", "ordrs", "warn", "--url", url));
    expect(set.code).toBe(0);
    expect(set.stdout.split("\n").slice(1, 3)).toEqual([
      "one       APPLIED  no logger has this name yet",
      "two       APPLIED  no logger has this name yet",
    ]);
    expect(set.stderr).toMatch(/\nNo instance has a logger ordrs yet\. Did you mean orders\?\n$/);
    const [, generation = ""] = /generation (\d+)/.exec(set.stderr)!;
    const status = await cli(words("status", generation, "--url", url));
    expect(status).toMatchObject({
      code: 0,
      stdout: set.stdout,
      stderr: "No instance has a logger ordrs yet. Did you mean orders?\n",
    });
  });

  test("say no more if some instances have it", async () => {
    const { url, orders } = await openFleet();
    const refunds = orders.one!.child({ name: "refunds" });
    const { code, stdout, stderr } = await cli(words("set", "refunds", "warn", "--url", url));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^one +APPLIED\ntwo +APPLIED {2}no logger has this name yet$/m);
    expect(refunds.level).toBe("warn");
    expect(stderr).not.toContain("No instance");
  });

  test("name the instances that are gone, which is no failure", async () => {
    const { url, server, silent } = await openFleet();
    silent("three");
    server.ahead = 20_000;
    const set = () => cli(words("set", "orders", "warn", "--url", url));
    const { code, stdout, stderr } = await set();
    expect([code, stdout.split("\n")[2]]).toEqual([0, "three     GONE"]);
    expect(stderr).toMatch(/\nthree is gone, and applies the change when it is back\.\n$/);
    expect(stdout).toContain("one       APPLIED\n");
    for (const id of ["four", "five", "six"]) silent(id);
    server.ahead = 40_000;
    expect((await set()).stderr).toMatch(
      /\n4 instances are gone, and apply the change when they are back: five, four, six and 1 more\.\n$/,
    );
  });
});

describe("a change", () => {
  test.each([
    [["debug"], /^orders debug: the fleet has it until [\d: -]*\d\d:\d\d:\d\d, generation \d+\n$/],
    [["warn"], /^orders warn: the fleet has it until it is changed, generation \d+\n$/],
  ])("says until when: %j", async (args, said) => {
    const { url } = await openFleet();
    expect((await cli(words("set", "orders", ...args, "--url", url))).stderr).toMatch(said);
  });

  test.each([
    [["set", "orders", "warn"], "level", "warn"],
    [["restore", "orders"], "change", "info"],
  ])("outlives Ctrl-C, which is said: %j", async (args, what, level) => {
    const { url, orders, silent } = await openFleet();
    silent("three");
    const child = new CliProcess(words(...args, "--url", url));
    await child.wrote(/the fleet has it/);
    child.signal("SIGINT");
    const { code, stderr } = await child.ended();
    expect(code).toBe(130);
    const [, generation] = /generation (\d+)/.exec(stderr)!;
    const kept = `The fleet keeps the ${what}. See how far it is: connect-actuator fleet status ${generation}.\n`;
    expect(stderr.slice(stderr.indexOf("\n") + 1)).toBe(kept);
    expect(orders.two!.level).toBe(level);
  });

  test.runIf(requirement("script, of util-linux,", scriptFound))("shows on a terminal what it waits for", async () => {
    const { url, silent } = await openFleet();
    silent("three");
    const child = typed(words("set", "orders", "warn", "--url", url));
    await child.shows(/the fleet has it/);
    await child.shows(/waiting for 1 instance; Ctrl-C leaves/);
    child.type("\x03");
    const { code, shown } = await child.ended();
    expect(code).toBe(130);
    expect(shown).toMatch(/The fleet keeps the level\./);
  });
});
