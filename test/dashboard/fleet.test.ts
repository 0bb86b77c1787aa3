// @module-tag slow
import { join } from "node:path";
import { pino } from "pino";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { createActuator } from "../../src/index.ts";
import { TestServer } from "../fleet/support.ts";
import { tokensFor } from "../support/tokens.ts";
import { accessibilityFaults, CHROMIUM, openPage, overflow, useBrowser } from "./support.ts";

const soon = { timeout: 20_000 };

/** Shops in one fleet, of which the first has the page. */
async function shops({ access, names = ["one", "two", "three"] }: { access?: object; names?: readonly string[] } = {}) {
  const server = new TestServer();
  const all = await Promise.all(
    names.map(async (instance, at) => {
      const log = pino({ level: "info" }, { write: () => undefined });
      const actuator = createActuator({
        name: "shop",
        version: "1.4.2",
        fleet: { engine: server.source(500), name: "shop", labels: { zone: at === 0 ? "eu" : "us" } },
        loggers: { instance, adapters: [pinoLoggers(log)], logLevelChanges: false },
        audit: false,
        access: access ?? "loopback",
      });
      onTestFinished(() => actuator.close());
      const { url } = await actuator.listen({ port: 0 });
      return { log, actuator, url };
    }),
  );
  const levelsOf = () => all.map(({ actuator }) => actuator.loggers!.get("orders")?.configuredLevel);
  return { server, all, url: all[0]!.url, levelsOf };
}

describe.runIf(CHROMIUM)("the fleet screen", () => {
  useBrowser();
  beforeAll(() => buildDashboard());

  test("shows the instances, and where they differ", async () => {
    const { all, url } = await shops();
    const { page } = await openPage(url, "#/fleet");
    const rows = page.locator("section", { hasText: "3 instances" }).locator("tbody tr");
    await expect.poll(() => rows.count(), soon).toBe(3);
    expect(await rows.first().innerText()).toMatch(/one\s*answers this page\s*up to date\s*shop 1\.4\.2\s*zone=eu/);
    const differences = page.locator("section", { hasText: "Where levels differ" });
    await expect.poll(() => differences.innerText(), soon).toContain("Every logger has the same level on 3 instances.");
    all[1]!.actuator.loggers!.setLevel("stock", "ERROR");
    all[0]!.actuator.loggers!.setLevel("stock", "WARN");
    await page.getByRole("button", { name: "Ask the instances again" }).click();
    await expect.poll(() => differences.innerText(), soon).toMatch(/stock\s+WARN\s+one\s+ERROR\s+two/);
    await all[2]!.actuator.close();
    await expect.poll(() => page.locator("h2", { hasText: "2 instances" }).count(), soon).toBe(1);
  });

  test("sets a level on all instances, says how far it is, and ends it", async () => {
    const { all, url, levelsOf } = await shops();
    const { page } = await openPage(url, "#/fleet");
    await page.getByRole("button", { name: "Set a level" }).click();
    await page.getByLabel("Logger or group").fill("orders");
    await page.getByRole("radio", { name: "WARN" }).click();
    await page.getByRole("radio", { name: "permanent" }).check();
    await page.getByRole("button", { name: "Set it" }).click();
    await expect.poll(levelsOf, soon).toEqual(["WARN", "WARN", "WARN"]);
    const row = page.locator("section", { hasText: "Levels of the fleet" }).locator("tbody tr");
    await expect.poll(() => row.innerText(), soon).toMatch(/orders\s*WARN\s*all\s*permanent\s*\S+\s*3 of 3 applied/);
    all[1]!.actuator.loggers!.setLevel("orders", "ERROR", { actor: "ann" });
    await expect.poll(() => row.innerText(), soon).toMatch(/2 of 3 applied\s*two\s+overruled/);
    // A change made elsewhere.
    await all[2]!.actuator.fleet!.setLevel("stock", "DEBUG", { selector: "zone=us", ttlMs: 60_000, actor: "bob" });
    await expect
      .poll(() => row.nth(1).innerText(), soon)
      .toMatch(/stock\s*DEBUG\s*zone=us\s*\S+\s*bob\s*2 of 2 applied/);
    await row.first().getByRole("button").click();
    await expect.poll(() => row.count(), soon).toBe(1);
    await page.getByRole("button", { name: "End all" }).click();
    await page.getByRole("button", { name: "End 1 level" }).click();
    await expect.poll(() => page.getByText("The fleet has no level.").count(), soon).toBe(1);
  });

  test("runs a canary, and sets it on all", async () => {
    const { url, levelsOf } = await shops();
    const { page } = await openPage(url, "#/fleet");
    await page.getByRole("button", { name: "Set a level" }).click();
    await page.getByLabel("Logger or group").fill("orders");
    await page.getByLabel(/First on so many of 3 instances/).fill("1");
    await page.getByRole("button", { name: "Begin the canary" }).click();
    const canary = page.locator("section", { hasText: "Canary" });
    await expect.poll(() => canary.innerText(), soon).toContain("1 of 1 applied");
    expect(levelsOf().filter((level) => level === "DEBUG")).toHaveLength(1);
    await canary.getByRole("button", { name: "Set it on all" }).click();
    await expect.poll(levelsOf, soon).toEqual(["DEBUG", "DEBUG", "DEBUG"]);
    await expect.poll(() => page.getByText("all instances have answered").count(), soon).toBe(1);
  });

  test("says that the engine does not answer, and that it does again", async () => {
    const { server, url } = await shops();
    const { page } = await openPage(url, "#/fleet");
    await page.locator("h2", { hasText: "3 instances" }).waitFor();
    server.answers = "none";
    await expect.poll(() => page.getByText("Every instance keeps its levels").count(), soon).toBe(1);
    expect(await page.getByRole("button", { name: "Set a level" }).getAttribute("aria-disabled")).toBe("true");
    server.answers = "all";
    await expect.poll(() => page.getByText("Every instance keeps its levels").count(), soon).toBe(0);
  });

  test("a token that may only read sees why it may not change", async () => {
    const { file, tokens } = tokensFor({ reader: { permissions: ["loggers:read", "info:read"] } });
    const { url } = await shops({ access: { tokens: file } });
    const { page } = await openPage(url, "#/fleet", { expected: /401/ });
    await page.getByRole("textbox", { name: "Token" }).fill(tokens.reader);
    await page.keyboard.press("Enter");
    const button = page.getByRole("button", { name: "Set a level" });
    await expect.poll(() => button.getAttribute("title"), soon).toBe("needs loggers:write");
    // The others ask for a token, too.
    await expect.poll(() => page.getByText("did not answer").count(), soon).toBe(2);
  });

  test("an application without a fleet has no such screen", async () => {
    const actuator = createActuator({ access: "loopback", loggers: {} });
    onTestFinished(() => actuator.close());
    const { url } = await actuator.listen({ port: 0 });
    const { page } = await openPage(url, "#/fleet");
    await page.getByText("This application is not part of a fleet").waitFor();
    expect(await page.locator(".nav").getByRole("link", { name: "Fleet" }).count()).toBe(0);
  });

  test.each(["light", "dark"] as const)(
    "has no fault of accessibility, also with hostile names and on a phone, %s",
    async (colorScheme) => {
      const { all, url } = await shops({ names: ["one", `two-${"x".repeat(80)}`] });
      const hostile = `<img src=x onerror=alert(1)>.${"long".repeat(60)}`;
      await all[0]!.actuator.fleet!.setLevel(hostile, "WARN", { actor: "‮ann", reason: "<b>noise</b>" });
      await all[0]!.actuator.fleet!.setLevel("orders", "DEBUG", { ttlMs: 600_000 });
      const { page } = await openPage(url, "#/fleet", { colorScheme, reducedMotion: "reduce" });
      await expect.poll(() => page.getByText("2 of 2 applied").count(), soon).toBe(2);
      for (const width of [1280, 375, 320]) {
        await page.setViewportSize({ width, height: 860 });
        expect(await overflow(page), `${width} px`).toBe(0);
        expect(await accessibilityFaults(page)).toEqual([]);
        const folder = process.env.PICTURES;
        if (folder) await page.screenshot({ path: join(folder, `fleet-${width}-${colorScheme}.png`), fullPage: true });
      }
    },
  );
});
