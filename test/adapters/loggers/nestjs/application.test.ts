import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { nestLine } from "../../../support/nest-lines.ts";
import { eventually, http1Request } from "../../../support/server-harness.ts";

const SHOP = join(import.meta.dirname, "..", "..", "..", "support", "nest-shop.ts");

/** The shop as its operator sees it: a process that writes lines, an application and an actuator. */
async function shop(logging: string) {
  const child: ChildProcess = spawn(process.execPath, [SHOP, logging], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += stripVTControlCharacters(chunk);
    });
  }
  const serving = /^serving (\S+) (\S+)$/m;
  await eventually(
    () => serving.test(text),
    () => text,
  );
  const [, app, actuator] = serving.exec(text)!;
  /** Orders, and resolves to what the application has written about it. */
  const order = async (id: string) => {
    expect((await http1Request(`${app}/orders/${id}`)).body).toBe(id);
    const answered = `answered ${id}`;
    await eventually(
      () => text.includes(answered),
      () => text,
    );
    const lines = text.slice(0, text.indexOf(answered)).split("\n");
    return lines.filter((line) => line.endsWith(` ${id}`)).map(nestLine);
  };
  const post = async (name: string, configuredLevel: string | null) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ configuredLevel });
    const { status } = await http1Request(`${actuator}/actuator/loggers/${name}`, { method: "POST", headers, body });
    expect(status).toBe(204);
  };
  const get = async (name: string) => JSON.parse((await http1Request(`${actuator}/actuator/loggers/${name}`)).body);
  const names = async () => Object.keys(JSON.parse((await http1Request(`${actuator}/actuator/loggers`)).body).loggers);
  return { child, order, post, get, names, output: () => text };
}

test("levels set over REST are those of the lines that the application writes, context by context", async () => {
  const { order, post, get, names, output, child } = await shop("levels");
  expect(await get("ROOT")).toEqual({ configuredLevel: "INFO", effectiveLevel: "INFO" });
  expect(await order("1")).toEqual(["LOG [shop.OrdersService] ordered 1"]);
  expect(await names()).toEqual(
    expect.arrayContaining(["OrdersController", "PaymentService", "RouterExplorer", "shop", "shop.OrdersService"]),
  );

  await post("PaymentService", "DEBUG");
  expect(await order("2")).toEqual(["DEBUG [PaymentService] paying 2", "LOG [shop.OrdersService] ordered 2"]);

  await post("shop", "TRACE");
  await post("PaymentService", "ERROR");
  expect(await get("shop.OrdersService")).toEqual({ effectiveLevel: "TRACE" });
  expect(await order("3")).toEqual([
    "VERBOSE [shop.OrdersService] looking for 3",
    "DEBUG [shop.OrdersService] ordering 3",
    "LOG [shop.OrdersService] ordered 3",
  ]);

  await post("shop", null);
  await post("OrdersController", "DEBUG");
  await post("shop.OrdersService", "OFF");
  expect(await order("4")).toEqual(["DEBUG [OrdersController] request for 4"]);

  await post("PaymentService", null);
  await post("ROOT", "DEBUG");
  await post("shop.OrdersService", null);
  expect(await order("5")).toEqual([
    "DEBUG [OrdersController] request for 5",
    "DEBUG [shop.OrdersService] ordering 5",
    "DEBUG [PaymentService] paying 5",
    "LOG [shop.OrdersService] ordered 5",
  ]);

  await post("ROOT", "INFO");
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(output()).toContain("[PaymentService] after the actuator");
  expect(output()).not.toContain("[shop.OrdersService] after the actuator");
});

test.each([
  ["default", { configuredLevel: "TRACE", effectiveLevel: "TRACE" }, /^LOG \[NestFactory\] Starting Nest application/m],
  ["json", { configuredLevel: "INFO", effectiveLevel: "INFO" }, /^\{"level":"log".*"context":"NestFactory"\}$/m],
  ["buffered", { configuredLevel: "INFO", effectiveLevel: "INFO" }, /^Shop LOG \[NestFactory\] Starting Nest/m],
])(
  "an application that logs by %s starts with the level that it has chosen, and its lines",
  async (logging, root, first) => {
    const { get, output } = await shop(logging);
    expect(await get("ROOT")).toEqual(root);
    expect(output().split("\n").map(nestLine).join("\n")).toMatch(first);
  },
);
