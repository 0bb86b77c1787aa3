import { fromJson } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { MeasureLoggersResponseSchema } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { requirement } from "../support/requirement.ts";
import { libraryOf } from "../support/rpc-harness.ts";
import { CliProcess, cli } from "./cli-process.ts";
import { openShop, type Shop } from "./shop.ts";
import { scriptFound, typed } from "./terminal.ts";

const terminal = requirement("script, of util-linux,", scriptFound);

/** Writes 20 lines of INFO a second, and calls DEBUG 100 times and TRACE 200 times. */
function busy({ native }: Shop, name = "orders.payment"): void {
  const timer = setInterval(() => {
    native[name]!.info("x");
    for (let i = 0; i < 5; i++) native[name]!.debug("x");
    for (let i = 0; i < 10; i++) native[name]!.trace("x");
  }, 50);
  onTestFinished(() => clearInterval(timer));
}

/** A table with `R` for each rate, and the spaces as one. */
const shape = (text: string) => text.replace(/ +/g, " ").replace(/(?<= )[\d.,]+k?(?=[ \n])/g, "R");

test("measure shows what each level makes and would add", async () => {
  const shop = await openShop();
  busy(shop);
  const { code, stdout, stderr } = await cli(["loggers", "measure", "--for", "1500ms", "--url", shop.url]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Lines a second, counted for 1s.\n" });
  expect(shape(stdout)).toBe(
    [
      "LOGGER ERROR WARN INFO DEBUG TRACE WRITTEN +DEBUG +TRACE",
      "orders.payment - - R R R R R R",
      "TOTAL - - R R R R R R",
      "",
    ].join("\n"),
  );
  const [info, debug, trace, written, moreDebug, moreTrace] = stdout
    .split("\n")[1]!
    .match(/(?<= )[\d.]+/g)!
    .map(Number);
  expect(written).toBe(info);
  expect(moreDebug).toBe(debug);
  expect(debug! / info!).toBeCloseTo(5, -0.5);
  expect(moreTrace! / (debug! + trace!)).toBeCloseTo(1, 1);
});

test("measure is of the loggers with a prefix, and says which libraries it cannot count", async () => {
  const shop = await openShop();
  shop.actuator.loggers!.attach(libraryOf(["other"]));
  busy(shop);
  const { code, stdout, stderr } = await cli(["loggers", "measure", "refunds", "--for", "100ms", "--url", shop.url]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toMatch(/^No logger was called within \d+ms\.\nNot measured: \w+\.\n$/);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends a measurement, and shows what was counted", async (signal, code) => {
  const shop = await openShop();
  busy(shop);
  const child = new CliProcess(["loggers", "measure", "--for", "5m", "--json", "--url", shop.url]);
  await expect.poll(() => measured(shop)).toBe(true);
  child.signal(signal);
  const ended = await child.ended();
  expect(ended).toMatchObject({ code, signal: null, stderr: "" });
  expect(fromJson(MeasureLoggersResponseSchema, JSON.parse(ended.stdout))).toMatchObject({ last: false });
  await expect.poll(() => measured(shop)).toBe(false);
});

/** Whether the methods of a logger are replaced: pino's own disabled ones are all the same function. */
function measured({ native }: Shop): boolean {
  const { debug, trace } = native.orders!;
  return debug !== trace;
}

test("a measurement that the server refuses says why", async () => {
  const { url } = await openShop();
  expect(await cli(["loggers", "measure", "--for", "1h", "--url", url])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^connect-actuator: the server says: .*\n$/),
  });
});

test.runIf(terminal)("on a terminal, the table is replaced in place and fits", async () => {
  const shop = await openShop();
  const name = "a.very.long.name.of.a.logger.that.needs.more.room.than.there.is";
  const logger = shop.native.orders!.child({ name });
  const timer = setInterval(() => logger.info(logger.bindings()), 10);
  onTestFinished(() => clearInterval(timer));
  const child = typed(["loggers", "measure", "--url", shop.url]);
  await child.shows(/1s of 10s; Ctrl-C ends it/);
  child.type("\x03");
  const { shown, code } = await child.ended();
  expect(code).toBe(130);
  expect(shown).toMatch(/\n\ds of 10s; Ctrl-C ends it\n\x1b\[1G\x1b\[\d+A\x1b\[0JLOGGER .*\n….* /);
  const last = shown.slice(shown.lastIndexOf("LOGGER"));
  expect(last).toMatch(/^LOGGER .*\n….*\nTOTAL .*\nLines a second, counted for \ds\.\n$/);
  expect(Math.max(...last.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});
