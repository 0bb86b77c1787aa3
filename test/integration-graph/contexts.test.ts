import { AsyncLocalStorage } from "node:async_hooks";
import { execFileSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { integrationGraph } from "../../src/integration-graph/builder.ts";
import { links } from "./support.ts";

describe("the contexts of the application", () => {
  test("are its own in every handler, whatever was handled before", async () => {
    const g = integrationGraph({ app: "shop" });
    const requests = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const handle = g.serviceActivator("pay").handle(async () => {
      seen.push(requests.getStore());
      await tick();
      seen.push(requests.getStore());
    });
    await handle();
    await requests.run("first", handle);
    await requests.run("second", handle);
    await handle();
    expect(seen).toEqual([undefined, undefined, "first", "first", "second", "second", undefined, undefined]);
  });

  test("are entered by a handler for its caller too", () => {
    const g = integrationGraph({ app: "shop" });
    const requests = new AsyncLocalStorage<string>();
    const bus = new EventEmitter();
    bus.on(
      "request",
      g.serviceActivator("begin").handle(() => requests.enterWith("one")),
    );
    const outside = new AsyncLocalStorage<string>();
    const inner = outside.run("outer", () => {
      bus.emit("request");
      return [requests.getStore(), outside.getStore()];
    });
    expect(inner).toEqual(["one", "outer"]);
    expect(outside.getStore()).toBeUndefined();
  });

  test("do not become those of a message without one", async () => {
    const g = integrationGraph({ app: "shop" });
    const requests = new AsyncLocalStorage<string>();
    const inner = g.serviceActivator("inner").handle(() => requests.getStore());
    const outer = g.serviceActivator("outer").handle(() => requests.run("one", inner));
    expect(inner()).toBeUndefined();
    expect(outer()).toBe("one");
    expect(inner()).toBeUndefined();
    expect(outer()).toBe("one");
  });
});

const flow = `
  import { AsyncLocalStorage } from "node:async_hooks";
  import { integrationGraph } from "${import.meta.resolve("../../src/integration-graph/builder.ts")}";
  const g = integrationGraph({ app: "shop" });
  const left = new AsyncLocalStorage();
  const send = (channel) => g.channel(channel).sender(() => {});
  const [paid, audit, mailed] = ["paid", "audit", "mailed"].map(send);
  const inner = g.serviceActivator("mail").handle(() => mailed());
  const pay = g.serviceActivator("pay").handle(async () => {
    paid();
    inner();
    await undefined;
    audit();
  });
  const round = () => Promise.all([pay(), left.run("a request", pay), pay(), inner()]);
  await round();
  left.run("left again", () => {});
  await round();
  paid();
  const { nodes, links } = g.graph.snapshot();
  const name = (id) => nodes.find(({ nodeId }) => nodeId === id).name;
  console.log(JSON.stringify(links.map(({ from, type, to, count }) => [name(from), type, name(to), count])));
`;

const WITHOUT_FRAMES = "--no-async-context-frame";

test.each([
  ["as this version of Node.js keeps contexts", []],
  ["as earlier versions do", process.allowedNodeEnvironmentFlags.has(WITHOUT_FRAMES) ? [WITHOUT_FRAMES] : []],
])("each message has one sender, %s", (_, flags) => {
  const output = execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", flow], {
    encoding: "utf8",
  });
  expect(new Set(JSON.parse(output))).toEqual(
    new Set([
      ["pay", "output", "paid", 6],
      ["mail", "output", "mailed", 8],
      ["pay", "output", "audit", 6],
    ]),
  );
});

test("a message that fails on its way to the error channel counts there once, beside others that do not", async () => {
  const g = integrationGraph({ app: "shop" });
  const failures = g.channel("failures").sender(() => {});
  const pay = g.serviceActivator("pay", { input: "orders", error: "failures" }).handle(async (own: boolean) => {
    await tick();
    if (own) failures();
    throw new Error("no");
  });
  await Promise.allSettled([pay(true), pay(false), pay(true)]);
  expect(links(g.graph)).toMatchObject({ "pay -error-> failures": 3 });
});
