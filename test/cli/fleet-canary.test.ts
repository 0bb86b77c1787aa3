// @module-tag slow
import { expect, onTestFinished, test } from "vitest";
import { FaultProxy } from "../support/fault-proxy.ts";
import { CliProcess, cli } from "./cli-process.ts";
import { type FleetShop, openFleet } from "./fleet-shop.ts";

/** Runs a canary until its instances have the level. */
async function canaryOf({ url }: Pick<FleetShop, "url">, ...args: string[]) {
  const child = new CliProcess(["fleet", "canary", "orders", "debug", "--url", url, ...args]);
  await child.wrote(/APPLIED/);
  const [, id = ""] = /fleet promote (\S+)\./.exec(child.stderr) ?? [];
  return { child, id };
}

const levels = ({ orders }: FleetShop) => Object.values(orders).map(({ level }) => level);

test("says what it does, where, why and until when", async () => {
  const fleet = await openFleet();
  const { child, id } = await canaryOf(fleet, "--reason", "ticket 812");
  expect(child.stderr).toMatch(/^orders: DEBUG on 1 instance \((one|two)\), "ticket 812"\n/);
  expect(child.stderr.split("\n")[1]).toBe(
    `To set it on all: connect-actuator fleet promote ${id}. Ctrl-C takes it back.`,
  );
  child.signal("SIGINT");
  expect(await child.ended()).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/\nTaken back: each instance is as it was before\.\n$/),
  });
  const { child: timed } = await canaryOf(fleet, "--promote-after", "1h", "--instances", "2");
  expect(timed.stderr).toMatch(
    /^orders: DEBUG on 2 instances \(one, two\)\nPromoted at [\d: -]*\d\d:\d\d:\d\d if it is applied by then\. To set it on all now: /,
  );
  timed.signal("SIGINT");
  await timed.ended();
});

test("is promoted and taken back from elsewhere, which is followed as a level that is set", async () => {
  const fleet = await openFleet();
  const finish = (word: string, id: string) => cli(["fleet", word, id, "--url", fleet.url]);
  const { child, id } = await canaryOf(fleet);
  expect(await finish("promote", id)).toMatchObject({
    code: 0,
    stdout: "INSTANCE  STATUS\none       APPLIED\ntwo       APPLIED\n",
    stderr: expect.stringMatching(/^promoted: the fleet has it until [\d: -]*\d\d:\d\d:\d\d, generation \d+\n$/),
  });
  expect(levels(fleet)).toEqual(["debug", "debug"]);
  expect(await child.ended()).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/\nPromoted: the level is set for all selected instances\.\n$/),
  });
  await cli(["fleet", "clear", "orders", "--url", fleet.url]);
  const other = await canaryOf(fleet);
  expect(await finish("back", other.id)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^INSTANCE {2}STATUS\n(one|two) {7}APPLIED\n$/),
    stderr: expect.stringMatching(/^taken back: the fleet has it, generation \d+\n$/),
  });
  expect(levels(fleet)).toEqual(["info", "info"]);
  expect(await other.child.ended()).toMatchObject({ code: 1 });
});

test.each([[[]], [["--json"]]])("says what follows if the connection breaks: %j", async (args) => {
  const fleet = await openFleet();
  const proxy = new FaultProxy({ host: "127.0.0.1", port: Number(new URL(fleet.url).port) });
  onTestFinished(() => proxy.close());
  const { child } = await canaryOf({ url: `http://127.0.0.1:${await proxy.listen()}` }, ...args);
  proxy.fault = "cut";
  const { code, stderr } = await child.ended();
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /connect-actuator: the connection to \S+ was closed: [^\n]+\. The canary is taken back within 30 seconds\.\n$/,
  );
});

test("that was promoted stays so after Ctrl-C", async () => {
  const fleet = await openFleet();
  const { child, id } = await canaryOf(fleet);
  fleet.silent("three");
  const promote = new CliProcess(["fleet", "promote", id, "--url", fleet.url]);
  await promote.wrote(/promoted: the fleet has it/);
  await child.wrote(/ {2}promoted\n/);
  for (const each of [child, promote]) {
    each.signal("SIGINT");
    const { code, stderr } = await each.ended();
    expect(code).toBe(130);
    expect(stderr).toMatch(/\nThe fleet keeps the level\. See how far it is: connect-actuator fleet status \d+\.\n$/);
  }
  expect(levels(fleet)).toEqual(["debug", "debug"]);
});
