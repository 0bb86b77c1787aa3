// @module-tag slow
import { beforeAll, describe, expect, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { Scope } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { integrationGraph, memoryFleet } from "../../src/index.ts";
import { TestServer } from "../fleet/support.ts";
import { tokensFor } from "../support/tokens.ts";
import { fill, levelOf, loggersAt, start, two } from "./fleet-support.ts";
import { accessibilityFaults, CHROMIUM, cardOf, openPage, overflow, useBrowser } from "./support.ts";

const ALL_HAVE = "All 2 instances have what was set";

describe.runIf(CHROMIUM)("the fleet", () => {
  useBrowser();
  beforeAll(buildDashboard, 60_000);

  test("instances are shown, filtered, and go", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/fleet");
    await page.getByRole("heading", { name: ALL_HAVE }).waitFor();
    const instances = page.getByRole("region", { name: "Instances", exact: true });
    const row = instances.getByRole("row", { name: "web-eu" });
    expect(await row.innerText()).toMatch(/answers this page.*up to date.*shop 4\.18\.2.*zone=eu.*ago/s);
    expect(await page.locator(".fl-status").innerText()).toMatch(/shop.*memory of the process, connected/s);
    await page.getByLabel("Filter by selector").fill("zone=us");
    await row.waitFor({ state: "detached" });
    expect(page.url()).toContain("#/fleet?on=zone%3Dus");
    await instances.getByText("1 of 2").waitFor();
    await page.getByLabel("Filter by selector").fill("zone=");
    await page.getByText(/selector cannot be read/).waitFor();
    await instances.locator(".chip", { hasText: /^2$/ }).waitFor();
    await page.getByLabel("Filter by selector").fill("");
    await row.waitFor();
    await us.actuator.close({ deadlineMs: 0 });
    await page.getByRole("heading", { name: "The one instance has what was set" }).waitFor();
  });

  test("a level is set on all, one from elsewhere appears, and one that is overruled is named", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/fleet");
    await page.getByText("No level is set for the fleet.").waitFor();
    await page.getByRole("button", { name: "Set a level" }).click();
    await fill(page, "TRACE");
    await page.getByRole("button", { name: "Set TRACE" }).click();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["TRACE", "TRACE"]);
    const row = page.getByRole("region", { name: "Levels of the fleet" }).getByRole("listitem");
    await expect
      .poll(() => row.first().innerText())
      .toMatch(/shop\.orders.*all instances.*ticket 812.*TRACE.*2 of 2 applied.*(9:5\d|10:00) left/s);

    const request = { name: "shop.orders", level: Level.ERROR, scope: Scope.FLEET, reason: "by rpc" };
    await loggersAt(us.url).setLoggerLevel({ ...request, fleet: { selector: "" } });
    await expect.poll(() => row.first().innerText()).toMatch(/by rpc.*ERROR.*2 of 2 applied/s);
    us.actuator.loggers!.setLevel("shop.orders", "DEBUG", { actor: "bob" });
    await expect.poll(() => row.first().innerText(), { timeout: 12_000 }).toMatch(/web-us overruled by bob/);
    await page.getByRole("heading", { name: "1 of 2 instances has what was set" }).waitFor();
    const instance = page.getByRole("region", { name: "Instances", exact: true }).getByRole("row", { name: "web-us" });
    expect(await instance.innerText()).toMatch(/1 level overruled/);
    // It is no failure.
    expect(await page.locator(".bad, .is-bad").count()).toBe(0);
    const differences = page.getByRole("region", { name: "Where levels differ" });
    await differences.getByRole("button", { name: "Compare" }).click();
    await expect
      .poll(() => differences.getByRole("listitem").first().innerText())
      .toMatch(/shop\.orders.*ERROR\s+web-eu.*DEBUG\s+web-us/s);

    await page.getByRole("button", { name: "Restore shop.orders" }).click();
    await page.getByText("No level is set for the fleet.").waitFor();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["INFO", "INFO"]);
  });

  test("a dialog whose request fails stays open with what was typed, and says why", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/fleet");
    const dialog = page.getByRole("dialog");
    const alert = dialog.getByRole("alert");
    await page.getByRole("button", { name: "Set a level" }).click();
    await dialog.getByRole("button", { name: "Set DEBUG" }).click();
    await alert.getByText("Name a logger or a group.").waitFor();
    await dialog.locator("input:focus").and(dialog.getByLabel("Logger or group")).waitFor();
    await fill(page, "DEBUG");
    await dialog.getByRole("radio", { name: "permanent" }).click();
    await dialog.getByRole("button", { name: "Set DEBUG" }).click();
    await alert.getByText(/DEBUG without an end is not allowed/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await dialog.getByLabel("Reason").inputValue()).toBe("ticket 812");
    await dialog.getByRole("radio", { name: "1 h" }).click();
    await dialog.getByRole("button", { name: "Set DEBUG" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["DEBUG", "DEBUG"]);
    // A change of this page itself is told once.
    await page.getByText(/The fleet has shop\.orders at DEBUG/).waitFor();
    expect(await page.locator(".toast").count()).toBe(1);

    await page.getByRole("button", { name: "Canary", exact: true }).click();
    await fill(page, "TRACE");
    await dialog.getByLabel("How many of them first").fill("7");
    await dialog.getByRole("button", { name: "Begin with TRACE on 7" }).click();
    await alert.waitFor();
    expect(await page.getByRole("region", { name: "Canary" }).count()).toBe(0);
    await dialog.getByLabel("How many of them first").fill("1");
    await dialog.getByRole("button", { name: "Begin with TRACE on 1" }).click();
    await page.getByRole("region", { name: "Canary" }).getByText("1 of 1 applied").waitFor();
  });

  test("the details of a logger lead to a level for all, and say that it is the fleet’s", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/loggers/shop.orders");
    await page.getByRole("button", { name: "On all instances" }).click();
    await page.getByRole("dialog").getByRole("radio", { name: "ERROR" }).click();
    await page.getByRole("button", { name: "Set ERROR" }).click();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["ERROR", "ERROR"]);
    await page.getByText(/lowered it for the fleet/).waitFor();
  });

  test("a canary is promoted, another is taken back with its tab, and all levels are ended", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/fleet");
    const begin = async (level: string) => {
      await page.getByRole("button", { name: "Canary", exact: true }).click();
      await fill(page, level);
      await page.getByRole("button", { name: `Begin with ${level} on 1` }).click();
    };
    const canary = page.getByRole("region", { name: "Canary" });
    await begin("TRACE");
    await expect
      .poll(() => canary.innerText())
      .toMatch(/On 1 instance:.*1 of 1 applied.*web-(eu|us) applied.*takes the canary back/s);
    expect(await canary.locator(".is-ok").innerText()).toMatch(/applied/);
    expect(await canary.locator(".is-bad").count()).toBe(0);
    expect([levelOf(eu), levelOf(us)].sort()).toEqual(["INFO", "TRACE"]);
    await canary.getByRole("button", { name: "Promote" }).click();
    await canary.getByText("Promoted: the level is set on all instances that match.").waitFor();
    await canary.getByText("On all instances.").waitFor();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["TRACE", "TRACE"]);

    await page.getByRole("button", { name: "End all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End 1 level" }).click();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["INFO", "INFO"]);

    await begin("ERROR");
    await expect.poll(() => [levelOf(eu), levelOf(us)].sort()).toEqual(["ERROR", "INFO"]);
    await page.close();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["INFO", "INFO"]);
  });

  test("a canary that is overruled says so", async () => {
    const [eu, us] = await two();
    const { page } = await openPage(eu.url, "#/fleet");
    const canary = page.getByRole("region", { name: "Canary" });
    await page.getByRole("button", { name: "Canary", exact: true }).click();
    await fill(page, "TRACE");
    await page.getByRole("button", { name: "Begin with TRACE on 1" }).click();
    await expect.poll(() => canary.innerText()).toMatch(/1 of 1 applied/);
    const request = { name: "shop.orders", level: Level.ERROR, scope: Scope.FLEET, fleet: { selector: "" } };
    await loggersAt(us.url).setLoggerLevel(request);
    await canary.getByText("Over: another level was set for the fleet.").waitFor();
    await expect.poll(() => [levelOf(eu), levelOf(us)]).toEqual(["ERROR", "ERROR"]);
    await canary.getByRole("button", { name: "Close the canary" }).click();
    await canary.waitFor({ state: "detached" });
  });

  test("the graph of all instances is one, and says which it has", async () => {
    const engine = memoryFleet();
    const [eu, us] = [integrationGraph({ app: "shop" }), integrationGraph({ app: "shop" })];
    eu.channel("orders");
    const send = us.channel("returns").sender(() => undefined);
    const { url } = await start(engine, "eu", { integrationGraph: eu });
    const other = await start(engine, "us", { integrationGraph: us });
    const { page } = await openPage(url, "#/graph");
    const node = (name: string) => cardOf(page, name);
    await node("orders").waitFor();
    expect(await node("returns").count()).toBe(0);
    await page.getByRole("button", { name: "All instances" }).click();
    await node("returns").waitFor();
    expect(page.url()).toContain("#/graph?of=fleet");
    await page.getByText("The graph of 2 instances.").waitFor();
    send();
    await node("returns").click();
    await page.getByText("web-us", { exact: true }).waitFor();
    await page.getByText("1, 0 failed").waitFor();
    await other.actuator.close({ deadlineMs: 0 });
    await page.getByText("The graph of 1 instance.").waitFor();
    await node("returns").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "All instances" }).click();
    await page.getByText("The graph of").waitFor({ state: "detached" });
    await node("orders").waitFor();
  });

  test("the graph says that the engine does not answer, and appears when it does", async () => {
    const server = new TestServer();
    const graph = integrationGraph({ app: "shop" });
    graph.channel("orders");
    const { url } = await start(server.source(), "eu", { integrationGraph: graph });
    server.answers = "none";
    const { page } = await openPage(url, "#/graph?of=fleet");
    await page.getByRole("heading", { name: "The graph cannot be read" }).waitFor();
    await page.getByText(/engine \(test\) does not answer: connection refused/).waitFor();
    server.answers = "all";
    await cardOf(page, "orders").waitFor();
    await page.getByText("The graph of 1 instance.").waitFor();
  });

  test("without a graph of its own, as at serve, an application shows that of all instances", async () => {
    const engine = memoryFleet();
    const graph = integrationGraph({ app: "shop" });
    graph.channel("orders");
    await start(engine, "us", { integrationGraph: graph });
    const { url } = await start(engine, "eu", { fleet: { engine, role: "reader" } });
    const { page } = await openPage(url, "#/overview");
    await page.getByRole("link", { name: "Graph" }).click();
    await cardOf(page, "orders").waitFor();
    await page.getByText("The graph of 1 instance.").waitFor();
    expect(await page.getByRole("button", { name: "All instances" }).count()).toBe(0);
  });

  test("an engine that is away is said, with what was known before", async () => {
    const server = new TestServer();
    const { url } = await start(server.source(), "eu");
    const { page } = await openPage(url, "#/fleet");
    await page.getByRole("heading", { name: "The one instance has what was set" }).waitFor();
    server.answers = "none";
    await page.getByRole("heading", { name: "Not known whether all instances have what was set" }).waitFor();
    expect(await page.locator(".fl-status").innerText()).toMatch(/as of \d\d:\d\d:\d\d.*test, does not answer/s);
    await page.getByRole("rowheader", { name: "web-eu" }).waitFor();
    server.answers = "all";
    await page.getByRole("heading", { name: "The one instance has what was set" }).waitFor();
  });

  test("a token that may only read changes nothing, and one that may not sees nothing", async () => {
    const { file, tokens } = tokensFor({
      reader: { permissions: ["loggers:read", "info:read"] },
      writer: { permissions: ["loggers:*"] },
      none: { permissions: ["info:read"] },
    });
    const { url } = await start(memoryFleet(), "eu", { access: { tokens: file } });
    const open = async (token: string) => {
      const { page } = await openPage(url, "#/fleet", { expected: /401|403/ });
      await page.getByRole("textbox", { name: "Token" }).fill(token);
      await page.getByRole("button", { name: "Sign in" }).click();
      return page;
    };
    const page = await open(tokens.reader);
    const set = page.getByRole("button", { name: "Set a level" });
    await set.waitFor();
    expect(await set.getAttribute("aria-disabled")).toBe("true");
    expect(await set.getAttribute("title")).toBe("needs loggers:write");
    await loggersAt(url, tokens.writer).setLoggerLevel({ name: "shop", level: Level.ERROR, scope: Scope.FLEET });
    const endAll = page.getByRole("button", { name: "End all" });
    await endAll.waitFor();
    const colours = page.evaluate(
      "[...document.querySelectorAll('.fl-acts > .btn')].map((each) => getComputedStyle(each).color)",
    );
    expect(new Set(await (colours as Promise<string[]>)).size).toBe(1);
    await (await open(tokens.none)).getByRole("heading", { name: "You may not see the fleet" }).waitFor();
  });

  test("without a fleet there is no such screen", async () => {
    const { url } = await start(memoryFleet(), "eu", { fleet: undefined });
    const { page } = await openPage(url, "#/fleet");
    await page.getByRole("heading", { name: "This application is in no fleet" }).waitFor();
    expect(await page.getByRole("navigation").getByRole("link", { name: "Fleet" }).count()).toBe(0);
  });

  test.each([
    { colorScheme: "dark", width: 320 },
    { colorScheme: "light", width: 1280 },
  ] as const)("$colorScheme, $width px: axe finds no fault, and nothing overflows", async ({ colorScheme, width }) => {
    const [eu, us] = await two();
    const request = { name: "shop.orders", scope: Scope.FLEET, reason: "why ".repeat(100) };
    await loggersAt(eu.url).setLoggerLevel({ ...request, level: Level.DEBUG, fleet: { selector: "zone=eu+us" } });
    us.actuator.loggers!.setLevel("shop.orders", "TRACE", { actor: "bob" });
    const options = { colorScheme, viewport: { width, height: 1_400 }, reducedMotion: "reduce" } as const;
    const { page } = await openPage(eu.url, "#/fleet", options);
    await page.getByText("overruled by bob").first().waitFor();
    await page.getByText(/^as of/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.getByRole("button", { name: "Canary", exact: true }).click();
    await fill(page, "TRACE");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
  });
});
