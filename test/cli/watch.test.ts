import { setTimeout } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { WatchLoggersResponseSchema } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { libraryOf } from "../support/rpc-harness.ts";
import { CliProcess } from "./cli-process.ts";
import { openShop } from "./shop.ts";

const lines = (text: string) => text.trimEnd().split("\n");
const events = (text: string) => lines(text).map((line) => fromJson(WatchLoggersResponseSchema, JSON.parse(line)));

async function watch(url: string, ...args: string[]): Promise<CliProcess> {
  const child = new CliProcess(["loggers", "watch", "--url", url, ...args]);
  await child.wrote(/\n/);
  return child;
}

describe("watch", () => {
  test("shows the loggers, then each change, until Ctrl-C", async () => {
    const { url, actuator } = await openShop();
    const child = await watch(url);
    await child.wrote(/\nmoney /);
    actuator.loggers!.setLevel("orders.payment", "WARN", { reason: "ticket 812" });
    await child.wrote(/orders\.payment\.cards: WARN/);
    child.signal("SIGINT");
    const { signal, stdout, stderr } = await child.ended();
    expect({ signal, stderr }).toEqual({ signal: "SIGINT", stderr: "" });
    const shown = lines(stdout.replace(/\d\d:\d\d:\d\d/g, "CLOCK"));
    expect(shown.slice(0, 2)).toEqual([
      "LOGGER                      LEVEL      ORIGIN",
      expect.stringMatching(/^ROOT /),
    ]);
    expect(shown.slice(-3).sort()).toEqual([
      "CLOCK  money: no level, 2 loggers, mixed",
      "CLOCK  orders.payment.cards: WARN, inherited",
      'CLOCK  orders.payment: WARN, set CLOCK, "ticket 812", baseline inherited',
    ]);
  });

  test("begins anew when the server ends an old stream, and shows what changed", async () => {
    const { url, actuator } = await openShop({ streams: { maxAgeMs: 100 } });
    const child = await watch(url);
    for (const level of ["WARN", "ERROR", "FATAL"] as const) {
      await setTimeout(150);
      actuator.loggers!.setLevel("orders.payment", level);
      await child.wrote(new RegExp(`orders\\.payment: ${level}`));
    }
    expect(child.stdout.match(/^LOGGER /gm)).toHaveLength(1);
    child.signal("SIGINT");
    expect(await child.ended()).toMatchObject({ signal: "SIGINT", stderr: "" });
  });

  test("counts loggers that only inherit another level if they are many", async () => {
    const { url, actuator } = await openShop();
    actuator.loggers!.attach(libraryOf(Array.from({ length: 50 }, (_, i) => `many.${i}`)));
    const child = await watch(url, "many");
    actuator.loggers!.setLevel("many", "ERROR");
    await child.wrote(/loggers inherit/);
    const change = lines(child.stdout.replace(/\d\d:\d\d:\d\d/g, "CLOCK")).slice(-2);
    expect(change).toEqual(["CLOCK  many: ERROR, set CLOCK, baseline inherited", "CLOCK  50 loggers inherit ERROR"]);
  });

  test("as JSON is one line for the snapshot and for each change, filtered", async () => {
    const { url, actuator } = await openShop();
    const child = await watch(url, "--json", "*.payment");
    actuator.loggers!.setLevel("refunds", "WARN");
    actuator.loggers!.setLevel("stock.payment", "ERROR");
    await child.wrote(/LEVEL_ERROR/);
    const [snapshot, change, ...more] = events(child.stdout);
    expect(snapshot!.event.case).toBe("snapshot");
    expect(snapshot!.event).toMatchObject({
      value: { loggers: [{ name: "orders.payment" }, { name: "stock.payment" }], groups: [] },
    });
    expect(change).toMatchObject({ event: { case: "change", value: { loggers: [{ name: "stock.payment" }] } } });
    expect(more).toEqual([]);
  });

  test("joins the pieces of large events", async () => {
    const { url, actuator } = await openShop();
    const count = 5_000;
    for (let i = 0; i < count; i++) actuator.loggers!.setLevel(`many.loggers.with.long.names.${i}`, "WARN");
    const child = await watch(url, "--json", "many.**");
    actuator.loggers!.setLevel("ROOT", "DEBUG");
    actuator.loggers!.setLevel("many.loggers", "TRACE");
    await child.wrote(/"change".*\n/);
    const [snapshot, change] = events(child.stdout);
    expect(snapshot).toMatchObject({ event: { case: "snapshot" }, more: false });
    const parents = ["many.loggers", "many.loggers.with", "many.loggers.with.long", "many.loggers.with.long.names"];
    const names = (snapshot!.event.value as { loggers: { name: string }[] }).loggers.map(({ name }) => name);
    expect(new Set(names).size).toBe(count + parents.length);
    expect(change!.event).toMatchObject({ case: "change" });
  });

  test("of nothing that exists goes on, and shows it when it comes", async () => {
    const { url, actuator } = await openShop();
    const child = await watch(url, "--json", "later");
    expect(events(child.stdout)).toMatchObject([{ event: { case: "snapshot", value: { loggers: [] } } }]);
    actuator.loggers!.setLevel("later.on", "WARN");
    await child.wrote(/later\.on/);
  });

  test("exits with 3 when the application ends", async () => {
    const { url, actuator } = await openShop();
    const child = await watch(url);
    await actuator.close();
    expect(await child.ended()).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^connect-actuator: .*try again soon\n$/),
    });
  });

  test("ends silently when its reader does", async () => {
    const { url, actuator } = await openShop();
    const child = await watch(url);
    child.leave();
    let warn = false;
    const change = setInterval(() => {
      warn = !warn;
      actuator.loggers!.setLevel("orders", warn ? "WARN" : "ERROR");
    }, 50);
    try {
      expect(await child.ended()).toMatchObject({ code: 0, stderr: "" });
    } finally {
      clearInterval(change);
    }
  });
});
