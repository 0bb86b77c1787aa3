// @module-tag slow
import { beforeAll, describe, expect, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { Level } from "../../src/gen/actuator/v3/level_pb.ts";
import { Scope } from "../../src/gen/actuator/v3/loggers_pb.ts";
import { integrationGraph, memoryFleet } from "../../src/index.ts";
import { levelOf, loggersAt, start, startReader, two } from "./fleet-support.ts";
import { CHROMIUM, cardOf, openPage, useBrowser } from "./support.ts";

const OF_FLEET = { scope: Scope.FLEET, fleet: { selector: "" } } as const;

describe.runIf(CHROMIUM)("what the page says of a fleet", () => {
  useBrowser();
  beforeAll(buildDashboard, 60_000);

  test("a name that no logger has is named, with the one that was probably meant", async () => {
    const [eu, us] = await two();
    await loggersAt(us.url).setLoggerLevel({ ...OF_FLEET, name: "shop.ordres", level: Level.DEBUG });
    const { page } = await openPage(eu.url, "#/fleet");
    const row = page.getByRole("region", { name: "Levels of the fleet" }).getByRole("listitem").first();
    await row.getByText("No instance has a logger shop.ordres yet. Did you mean shop.orders?").waitFor();
    expect(await row.locator(".chip.ok").count()).toBe(0);
    expect(await page.locator(".fl-status.warn").innerText()).toContain("No instance has a logger shop.ordres yet.");
    await row.getByRole("link", { name: "shop.orders" }).click();
    await page.getByRole("button", { name: "On all instances" }).waitFor();
  });

  test("levels of the fleet are marked among those of the instance, and so are their changes", async () => {
    const [eu, us] = await two();
    const client = loggersAt(us.url);
    await client.setLoggerLevel({ ...OF_FLEET, name: "shop.orders", level: Level.DEBUG, reason: "ticket 812" });
    eu.actuator.loggers!.setLevel("shop", "ERROR", { actor: "bob" });
    const { page } = await openPage(eu.url, "#/loggers");
    const rowOf = (name: RegExp) => page.locator(".tr").filter({ has: page.getByText(name) });
    const mark = page.getByTitle("Set for the fleet");
    await rowOf(/^orders$/)
      .and(page.locator(":has(.of-fleet)"))
      .waitFor();
    expect(await mark.count()).toBe(1);
    expect(await mark.innerText()).toBe("Set for the fleet");

    await client.clearLoggerLevel({ ...OF_FLEET, name: "shop.orders", reason: "found it" });
    await mark.waitFor({ state: "detached" });
    await client.setLoggerLevel({ ...OF_FLEET, name: "shop.orders", level: Level.TRACE });
    await mark.waitFor();
    await client.restoreLoggerLevel({ ...OF_FLEET, name: "shop.orders", reason: "done" });
    await mark.waitFor({ state: "detached" });
    await page.goto(`${eu.url}/actuator/ui/#/overview`);
    const changes = page.getByRole("region", { name: "Recent changes" });
    const texts = async () => (await changes.getByRole("listitem").allInnerTexts()).join("\n").replace(/\s+/g, " ");
    await expect.poll(texts).toMatch(/restored shop\.orders for the fleet TRACE .* done/);
    expect(await texts()).toMatch(/cleared shop\.orders for the fleet DEBUG .* found it/);
    expect(await texts()).toMatch(/bob \w+ shop (?!for the fleet)/);
    expect(await texts()).not.toContain("its time was up");
    await page.goto(`${eu.url}/actuator/ui/#/loggers?history=1`);
    const history = page.getByRole("region", { name: "History" });
    const words = async () => (await history.getByRole("listitem").allInnerTexts()).join("\n");
    await expect.poll(words).toMatch(/restored, for the fleet: done/);
    expect(await words()).toMatch(/cleared, for the fleet: found it/);
  });

  test("what only reads the fleet has its name, ends the fleet’s levels, and says where its logs are read", async () => {
    const engine = memoryFleet();
    const eu = await start(engine, "eu");
    const { url } = await startReader(engine);
    const { page } = await openPage(url, "#/logs");
    await page.getByRole("heading", { name: "This process has no loggers of its own" }).waitFor();
    await page.getByText("connect-actuator fleet tail").waitFor();
    expect(await page.locator(".nav-app strong").innerText()).toBe("shop");
    expect(await page.title()).toBe("Logs · shop");

    await loggersAt(eu.url).setLoggerLevel({ ...OF_FLEET, name: "shop.orders", level: Level.DEBUG });
    await page.getByRole("link", { name: /^Loggers/ }).click();
    await page.getByRole("button", { name: "End all of the fleet" }).click();
    const dialog = page.getByRole("dialog", { name: "End all levels of the fleet shop?" });
    await dialog.getByRole("button", { name: "End 1 level" }).click();
    await page.getByText("1 level of the fleet ended").waitFor();
    await expect.poll(() => levelOf(eu)).toBe("INFO");
    expect(await page.getByRole("button", { name: "Restore all" }).count()).toBe(0);
  });

  test("where changes are for the fleet by default, what the server refuses leads to the end of the fleet’s levels", async () => {
    const engine = memoryFleet();
    const eu = await start(engine, "eu", { fleet: { engine, scope: "fleet" } });
    await loggersAt(eu.url).setLoggerLevel({ name: "shop.orders", level: Level.DEBUG });
    const { page } = await openPage(eu.url, "", { expected: /400/ });
    await page.getByRole("button", { name: "Restore all levels" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore 1 level" }).click();
    await page.getByText("Levels that are set here are the fleet's").waitFor();
    await page.getByRole("button", { name: "End all of the fleet" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End 1 level" }).click();
    await expect.poll(() => levelOf(eu)).toBe("INFO");
  });

  test("Undo puts back the fleet’s level from before", async () => {
    const engine = memoryFleet();
    const eu = await start(engine, "eu");
    const { url } = await startReader(engine);
    await loggersAt(url).setLoggerLevel({ name: "shop.orders", level: Level.WARN });
    const { page } = await openPage(url, "#/loggers");
    const row = page.locator(".lg-grid [role=row]", { has: page.locator("bdi", { hasText: /^orders$/ }) });
    await row.getByRole("radio", { name: "DEBUG" }).click();
    await expect.poll(() => levelOf(eu)).toBe("DEBUG");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => levelOf(eu)).toBe("WARN");
  });

  test("on a small screen the rows of instances are alike", async () => {
    const [{ url }] = await two();
    const { page } = await openPage(url, "#/fleet", { viewport: { width: 375, height: 812 } });
    const table = page.getByRole("table");
    await table.getByText("zone=us").waitFor();
    const lefts = (selector: string) =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll("${selector}")].map((each) => each.getBoundingClientRect().left)`,
      );
    expect(await lefts(".fl-labels")).toEqual(await lefts(".fl-tbl th[scope=row]"));
  });

  test("on a small screen the graph’s note is above the nodes, and its tools are in one row", async () => {
    const graph = integrationGraph({ app: "shop" });
    graph.channel("orders");
    const { url } = await start(memoryFleet(), "eu", { integrationGraph: graph });
    const { page } = await openPage(url, "#/graph?of=fleet", { viewport: { width: 375, height: 812 } });
    const note = page.getByText("The graph of 1 instance.");
    await cardOf(page, "orders").waitFor();
    await note.waitFor();
    const canvas = await page.locator(".gr-canvas").boundingBox();
    const box = await note.boundingBox();
    expect(box!.y + box!.height).toBeLessThanOrEqual(canvas!.y);
    const tops = await Promise.all(
      ["Focus", "All instances", "Export as SVG"].map((name) => page.getByRole("button", { name }).boundingBox()),
    );
    expect(new Set(tops.map((each) => each!.y)).size).toBe(1);
  });
});
