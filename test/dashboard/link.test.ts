// @module-tag slow
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import { WrittenLibrary } from "../logs/written-library.ts";
import { CHROMIUM, openPage, openTab, useBrowser } from "./support.ts";

const NETWORK = /Failed to load resource|ERR_/;
const OPEN = "actuator.v3.StreamsService/Open";

async function served(options: ActuatorOptions = {}, port = 0) {
  const library = new WrittenLibrary(["orders", "orders.payment", "mail"]);
  const actuator = createActuator({
    name: "shop",
    loggers: { adapters: [library], logLevelChanges: false },
    metrics: true,
    audit: false,
    onError: () => undefined,
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const address = await actuator.listen({ port });
  /** The number of open streams of a method. */
  const streams = async (method: string) => {
    const text = await (await fetch(`${address.url}/actuator/prometheus`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`actuator_streams{rpc_method="${method}"}`));
    return line === undefined ? 0 : Number(line.split(" ").at(-1));
  };
  return { actuator, library, streams, ...address };
}

describe.runIf(CHROMIUM)("the connection of the page", () => {
  useBrowser();

  test("ten tabs over HTTP/1.1 share one stream, and all are live", async () => {
    const { url, actuator, streams } = await served();
    const opened = await openPage(url, "#/loggers");
    const tabs = [opened.page];
    for (let at = 1; at < 10; at++) tabs.push(await openTab(opened, url, at % 2 === 0 ? "#/overview" : "#/loggers"));
    for (const tab of tabs) await tab.getByText("1 connection shared by 10 tabs").waitFor();
    expect(await streams(OPEN)).toBe(1);
    actuator.loggers!.setLevel("orders", "DEBUG", { actor: "carol" });
    for (const tab of tabs) await tab.getByText("1 changed").first().waitFor();
    for (const tab of tabs.slice(1)) await tab.close();
    await opened.page.getByText("1 connection shared by 1 tab").waitFor();
    await opened.page.close();
    await expect.poll(() => streams(OPEN)).toBe(0);
  });

  test("a restart keeps the content, is told, and the page is live again", async () => {
    const first = await served();
    const { page } = await openPage(first.url, "#/loggers", { expected: NETWORK });
    await page.getByText("orders").first().waitFor();
    await first.actuator.close({ deadlineMs: 0 });
    await page
      .locator(".foot")
      .getByText(/Offline|No update/)
      .waitFor();
    expect(await page.getByText("orders").first().isVisible()).toBe(true);
    await served({ version: "2.0.0" }, first.port);
    await page.locator(".foot").getByText(/^Live/).waitFor();
    await page.locator(".foot").getByText("2.0.0").waitFor();
  });

  test("a connection that dies without a word is noticed", async () => {
    const { url, port, streams } = await served({ heartbeatMs: 1_000 });
    const sockets = new Set<Socket>();
    let isDeaf = false;
    const proxy = createServer((client) => {
      const server = connectTcp(port, "127.0.0.1");
      for (const each of [client, server]) each.on("error", () => undefined);
      sockets.add(client).add(server);
      client.on("data", (bytes) => !isDeaf && server.write(bytes));
      server.on("data", (bytes) => !isDeaf && client.write(bytes));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => proxy.once("listening", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    const { port: proxied } = proxy.address() as { port: number };
    const { page } = await openPage(url.replace(String(port), String(proxied)), "", { expected: NETWORK });
    await page.locator(".foot").getByText(/^Live/).waitFor();
    isDeaf = true;
    await page
      .locator(".foot")
      .getByText(/Offline|No update/)
      .waitFor();
    isDeaf = false;
    await page.locator(".foot").getByText(/^Live/).waitFor();
    expect(await streams(OPEN)).toBeGreaterThan(0);
  });

  test("without shared workers a tab has a connection of its own", async () => {
    const { url } = await served();
    const { page } = await openPage(url, "");
    await page.context().addInitScript("delete globalThis.SharedWorker");
    await page.reload();
    await page.locator(".foot").getByText(/^Live/).waitFor();
  });
});
