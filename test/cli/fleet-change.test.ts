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

describe("clear and restore", () => {
  const TIME = "[\\d: -]*\\d\\d:\\d\\d:\\d\\d";

  test.each(["clear", "restore"])("%s says what the fleet still has for the name", async (word) => {
    const { url, orders } = await openFleet();
    const run = (...args: string[]) => cli(words(...args, "--url", url));
    await run("set", "orders", "debug", "--for", "10m");
    await run("set", "orders", "trace", "--for", "10m", "--on", "zone=eu");
    await run("set", "orders", "error", "--on", "zone=asia");
    const ended = await run(word, "orders", "--on", "zone=eu");
    expect(ended).toMatchObject({ code: 0, stdout: "INSTANCE  STATUS\none       APPLIED\n" });
    expect(ended.stderr).toMatch(
      new RegExp(
        `^orders ${word === "clear" ? "cleared" : "restored"}: the fleet has it, generation \\d+\\n` +
          `orders still has a level of the fleet: DEBUG on all instances until ${TIME}\\.\\n` +
          "orders still has a level of the fleet: ERROR on zone=asia until it is changed\\.\\n$",
      ),
    );
    expect(orders.one!.level).toBe("debug");
    expect((await run(word, "orders")).stderr).toMatch(/^orders (cleared|restored): [^\n]+\n$/);
  });

  test("clear says that there was no level", async () => {
    const { url } = await openFleet();
    const run = (...args: string[]) => cli(words(...args, "--url", url));
    await run("set", "stock:items", "warn");
    expect(await run("clear", "orders")).toMatchObject({
      ...{ code: 0, stdout: "", stderr: "The fleet had no level for orders.\n" },
    });
    expect(await run("clear", "stock/items", "--on", "zone=eu")).toMatchObject({
      code: 0,
      stderr:
        "The fleet had no level for stock.items on zone=eu.\n" +
        "stock.items still has a level of the fleet: WARN on all instances until it is changed.\n",
    });
    expect((await run("clear", "stock:items")).stderr).toMatch(/^stock\.items cleared: the fleet has it/);
  });
});

describe("reset", () => {
  test("says how many levels have ended, and how many instances follow", async () => {
    const { url, server, silent } = await openFleet();
    const run = (...args: string[]) => cli(words(...args, "--url", url));
    const none = await run("reset");
    expect(none).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/^0 levels of the fleet ended, generation \d+\n$/) },
      stderr: "2 instances follow.\n",
    });
    await run("set", "orders", "warn");
    silent("three");
    server.ahead = 20_000;
    expect(await run("reset")).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/^1 level of the fleet ended, generation \d+\n$/) },
      stderr: "2 instances follow, and three when it is back.\n",
    });
  });

  describe.runIf(requirement("script, of util-linux,", scriptFound))("on a terminal", () => {
    test.each([
      ["n", [], 1, "warn", /End all 1 level of the fleet\? \[y\/N\] n\nNo level was ended\.\n$/],
      ["y", [], 0, "info", /End all 1 level of the fleet\? \[y\/N\] y\n1 level of the fleet ended/],
      [undefined, ["--yes"], 0, "info", /^1 level of the fleet ended/],
    ])("asks first: %j %j", async (answer, args, exitCode, level, said) => {
      const { url, orders } = await openFleet();
      await cli(words("set", "orders", "warn", "--url", url));
      const child = typed(words("reset", ...args, "--url", url));
      if (answer !== undefined) {
        await child.shows(/\[y\/N\]/);
        child.type(`${answer}\n`);
      }
      const { code, shown } = await child.ended();
      expect(code).toBe(exitCode);
      expect(shown).toMatch(said);
      await expect.poll(() => orders.two!.level).toBe(level);
    });
  });
});
