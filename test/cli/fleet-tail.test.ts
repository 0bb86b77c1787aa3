// @module-tag slow
import { describe, expect, test } from "vitest";
import { CliProcess, cli } from "./cli-process.ts";
import { type FleetShop, openFleet } from "./fleet-shop.ts";

/** Runs `fleet tail` until both instances, which are asked at once, have begun. */
async function tail({ url }: FleetShop, ...args: string[]): Promise<CliProcess> {
  const child = new CliProcess(["fleet", "tail", "--url", url, ...args]);
  for (const instance of ["one", "two"]) await child.wrote(new RegExp(`^${instance}: Showing`, "m"));
  return child;
}

async function interrupted(child: CliProcess) {
  child.signal("SIGINT");
  return child.ended();
}

const levels = ({ orders }: FleetShop) => Object.values(orders).map(({ level }) => level);

describe("a level that is raised", () => {
  test("is said, and said to be restored", async () => {
    const fleet = await openFleet();
    const child = await tail(fleet, "orders", "--raise", "debug", "--for", "10m", "--reason", "ticket 812");
    await child.wrote(/Raised to DEBUG/);
    expect(levels(fleet)).toEqual(["debug", "debug"]);
    const { code, stderr } = await interrupted(child);
    expect(code).toBe(130);
    expect(stderr.split("\n").toSorted()).toEqual([
      "",
      "Raised to DEBUG for 10m or until Ctrl-C on all instances: orders",
      "Restored orders: each instance is as it was before.",
      "one: Showing what 1 logger writes.",
      "two: Showing what 1 logger writes.",
    ]);
    await expect.poll(() => levels(fleet)).toEqual(["info", "info"]);
  });

  test("on some instances is said to be on these, also if its time is over", async () => {
    const fleet = await openFleet();
    const args = ["--raise", "trace", "--on", "zone=eu", "--for", "3s"];
    const child = new CliProcess(["fleet", "tail", "--url", fleet.url, "orders", "stock.*", ...args]);
    await child.wrote(/Raised to TRACE for 3s or until Ctrl-C on zone=eu: orders, stock\n/);
    expect(levels(fleet)).toEqual(["trace", "info"]);
    expect(await child.ended()).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /\nRestored orders, stock: each instance is as it was before\.\n$|has ended: its time/,
      ),
    });
  });

  test("that another level has replaced is not restored", async () => {
    const fleet = await openFleet();
    const child = await tail(fleet, "orders", "--raise", "debug");
    await child.wrote(/Raised to DEBUG until Ctrl-C on all instances: orders/);
    await cli(["fleet", "set", "orders", "error", "--url", fleet.url]);
    await child.wrote(/Raising to DEBUG has ended: another level was configured meanwhile\./);
    expect((await interrupted(child)).stderr).not.toContain("Restored");
    expect(levels(fleet)).toEqual(["error", "error"]);
  });
});

describe("what is watched", () => {
  test("is selected by fields", async () => {
    const fleet = await openFleet();
    const child = await tail(fleet, "--field", "order.id=7", "--json");
    for (const id of [8, 7]) fleet.orders.two!.info({ order: { id } }, "sold");
    await child.wrote(/sold/);
    const { stdout } = await interrupted(child);
    expect(JSON.parse(stdout)).toMatchObject({ instance: "two", message: "sold", fields: { order: { id: 7 } } });
  });

  test("is said once if no instance has the names", async () => {
    const { url } = await openFleet();
    const child = new CliProcess(["fleet", "tail", "ordrs", "--url", url]);
    await child.wrote(/No logger is named/);
    expect((await interrupted(child)).stderr).toBe("No logger is named ordrs yet. Did you mean orders?\n");
  });

  test("is no mistake if one of them has the name", async () => {
    const fleet = await openFleet();
    const refunds = fleet.orders.two!.child({ name: "refunds" });
    const child = new CliProcess(["fleet", "tail", "refunds", "--url", fleet.url]);
    await child.wrote(/two: Showing/);
    refunds.info("paid back");
    await child.wrote(/paid back/);
    expect((await interrupted(child)).stderr).toBe("two: Showing what 1 logger writes.\n");
  });

  test("may be nothing now", async () => {
    const { url } = await openFleet();
    const child = new CliProcess(["fleet", "tail", "--on", "zone=nowhere", "--url", url]);
    await child.wrote(/No instance matches zone=nowhere now; later ones are followed\.\n/);
    await interrupted(child);
  });

  test("must be granted", async () => {
    const { url } = await openFleet({ one: {} }, { access: { anonymous: ["*"] } });
    const { code, stderr } = await cli(["fleet", "tail", "--url", url]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^connect-actuator: reading what loggers write must be granted: give a token with/),
    ]);
  });

  test.each([
    [["--reason", "x"], /--reason goes with --raise/],
    [["--json", "--pretty"], /--json and --pretty exclude each other/],
    [["--field", "order"], /Give a field such as order\.id=4711/],
  ])("is not what the command line says: %j", async (args, message) => {
    expect(await cli(["fleet", "tail", ...args])).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });
});
