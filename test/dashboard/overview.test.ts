// @module-tag slow
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import type { PermissionPattern } from "../../src/access/permission.ts";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../src/index.ts";
import { libraryOf } from "../support/rpc-harness.ts";
import { tokensFor } from "../support/tokens.ts";
import { accessibilityFaults, CHROMIUM, openPage, useBrowser } from "./support.ts";

const NAMES = ["shop", "shop.orders", "shop.orders.payment", "mail"];

/** A shop with loggers, sessions, a graph whose `charge` can fail, and a check of its bank. */
async function serve(options: Partial<ActuatorOptions> = {}) {
  const flow = integrationGraph({ app: "shop" });
  const charge = flow.serviceActivator("charge", { input: "payments" }).handle((fails: boolean) => {
    if (fails) throw new Error("declined");
  });
  const state = { isUp: true };
  const actuator = createActuator({
    name: "shop",
    version: "4.18.2",
    audit: false,
    loggers: { adapters: [libraryOf(NAMES)], logLevelChanges: false },
    sessions: { store: memorySessions(), idKey: "a key for the ids of this test" },
    integrationGraph: flow,
    health: { checks: { bank: () => state.isUp }, cacheMs: 0, intervalMs: 100 },
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  const pay = (fails: boolean) => {
    try {
      charge(fails);
    } catch {
      // Counted.
    }
  };
  return { actuator, loggers: actuator.loggers!, url, state, pay };
}

const MINUTES = 60_000;

describe.runIf(CHROMIUM)("the overview", () => {
  useBrowser();
  beforeAll(buildDashboard, 60_000);

  test("a level that is changed over REST appears with who changed it, and is restored", async () => {
    const { url, loggers } = await serve();
    const { page } = await openPage(url);
    await page.getByText("All levels are at their baseline.").waitFor();
    const body = JSON.stringify({ configuredLevel: "DEBUG" });
    const headers = { "content-type": "application/json" };
    await fetch(`${url}/actuator/loggers/shop.orders`, { method: "POST", headers, body });
    const panel = page.getByRole("region", { name: "Levels changed by operators" });
    await expect.poll(() => panel.getByRole("listitem").innerText(), { timeout: 1_000 }).toContain("shop.orders");
    expect(await panel.getByRole("listitem").innerText()).toMatch(/127\.0\.0\.1.*INFO.*DEBUG.*permanent/s);
    const recent = page.getByRole("region", { name: "Recent changes" });
    await expect.poll(() => recent.innerText()).toMatch(/127\.0\.0\.1 set shop\.orders to\s+DEBUG/);

    await panel.getByRole("button", { name: "Restore shop.orders" }).click();
    await page.getByText("All levels are at their baseline.").waitFor();
    expect(loggers.get("shop.orders")).toMatchObject({ configuredLevel: undefined });
    await expect.poll(() => recent.innerText()).toContain("restored shop.orders");
  });

  test("ten minutes more are added to what is left, and the reason stays", async () => {
    const { url, loggers } = await serve();
    loggers.setLevel("mail", "TRACE", { actor: "alice", reason: "ticket 812", ttlMs: 5 * MINUTES });
    loggers.setLevel("shop", "DEBUG", { actor: "bob" });
    const { page } = await openPage(url);
    const panel = page.getByRole("region", { name: "Levels changed by operators" });
    const row = panel.getByRole("listitem").first();
    await expect.poll(() => row.innerText()).toMatch(/mail.*alice · ticket 812.*TRACE.*4:5\d left/s);
    // A permanent level needs no more time.
    expect(await panel.getByRole("button", { name: "10 min more" }).count()).toBe(1);
    await panel.getByRole("button", { name: "10 min more for mail" }).click();
    await expect.poll(() => row.innerText()).toMatch(/ticket 812.*14:5\d left/s);
    const { override } = loggers.get("mail") as { override: { expireTime: number; reason: string } };
    expect(override.reason).toBe("ticket 812");
    expect(override.expireTime - Date.now()).toBeGreaterThan(14 * MINUTES);
  });

  test("all levels are restored after a question", async () => {
    const { url, loggers } = await serve();
    loggers.setLevel("mail", "TRACE", { actor: "alice" });
    loggers.setLevel("shop", "DEBUG", { actor: "bob" });
    const { page } = await openPage(url);
    await page.getByRole("button", { name: "Restore all levels" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(loggers.list().loggers.filter(({ override }) => override !== undefined)).toHaveLength(2);
    await page.getByRole("button", { name: "Restore all levels" }).click();
    await dialog.getByRole("button", { name: /^Restore/ }).click();
    await page.getByText("All levels are at their baseline.").waitFor();
    expect(loggers.list().loggers.filter(({ override }) => override !== undefined)).toEqual([]);
  });

  test("a check and a node that begin to fail appear, and go", async () => {
    const { url, state, pay } = await serve();
    const { page } = await openPage(url);
    await page.getByRole("heading", { name: "Up", exact: true }).waitFor();
    await page.getByText("No node failed in the last minute.").waitFor();
    state.isUp = false;
    for (let index = 0; index < 3; index++) pay(false);
    pay(true);
    await page.getByRole("heading", { name: "Down: 1 of 2 checks fails" }).waitFor();
    expect(await page.locator(".ov-status").innerText()).toMatch(/bank fails since \d\d:\d\d:\d\d, \d+ s ago/);
    expect(await page.getByRole("region", { name: "Health" }).innerText()).toMatch(/1 down.*1 up.*bank.*DOWN/s);
    const failing = page.getByRole("region", { name: "Failing nodes" });
    await expect.poll(() => failing.innerText()).toMatch(/charge.*service activator.*1 failed.*of 4/s);
    expect(await failing.getByRole("link", { name: "charge" }).getAttribute("href")).toMatch(/^#\/graph\/.*charge/);
    expect(await page.getByRole("region", { name: "Now" }).innerText()).toMatch(/Messages\s+4\s*per minute/);
    state.isUp = true;
    await page.getByRole("heading", { name: "Up", exact: true }).waitFor();
  });

  test("what the caller may not see is left out, and what it may not do says why", async () => {
    const permissions: PermissionPattern[] = ["loggers:read", "info:read"];
    const { file, tokens } = tokensFor({ ops: { permissions } });
    const { url, loggers, pay } = await serve({ access: { tokens: file } });
    loggers.setLevel("mail", "TRACE", { actor: "alice", ttlMs: 5 * MINUTES });
    pay(true);
    const { page } = await openPage(url, "", { expected: /401/ });
    await page.getByLabel("Token", { exact: true }).and(page.locator("input")).fill(tokens.ops);
    await page.getByRole("button", { name: "Sign in" }).click();
    const restore = page.getByRole("button", { name: "Restore mail" });
    await restore.waitFor();
    expect(await restore.getAttribute("title")).toContain("loggers:write");
    await page.getByRole("heading", { name: "Up", exact: true }).waitFor();
    const tiles = page.getByRole("region", { name: "Now" });
    await expect.poll(() => tiles.innerText()).toContain("Loggers");
    expect(await tiles.innerText()).not.toMatch(/Sessions|Messages|Failing/);
    expect(await page.getByRole("region", { name: "Failing nodes" }).count()).toBe(0);
  });

  test("an application that serves nothing else shows its health and no empty panel", async () => {
    const nothing = { loggers: undefined, sessions: undefined, integrationGraph: undefined, health: undefined };
    const { url } = await serve(nothing);
    const { page } = await openPage(url);
    await page.getByRole("heading", { name: "Up", exact: true }).waitFor();
    expect(await page.locator(".panel, .tile").count()).toBe(0);
  });

  test.each([320, 375, 1280, 2560])(
    "at %d px nothing overflows, and axe finds no fault in either theme",
    async (width) => {
      const { url, loggers, state, pay } = await serve();
      const hostile = `x.<img onerror=alert(1)>\u202e.${"long".repeat(500)}`;
      loggers.setLevel("mail", "TRACE", { actor: "alice", reason: hostile.slice(0, 900), ttlMs: 5 * MINUTES });
      loggers.setLevel(hostile.slice(0, 200), "DEBUG", { actor: hostile.slice(0, 200) });
      pay(true);
      state.isUp = false;
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await openPage(url, "", { viewport: { width, height: 900 }, colorScheme });
        await page.getByRole("heading", { name: /^Down/ }).waitFor();
        await page.getByRole("button", { name: "Restore mail" }).waitFor();
        if (process.env.PICTURES)
          await page.screenshot({ path: `${process.env.PICTURES}/${width}-${colorScheme}.png` });
        const wide =
          "[...document.querySelectorAll('main, main *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1)";
        expect(
          await page.evaluate(
            `${wide}.filter((each) => getComputedStyle(each.parentElement).overflow !== "hidden").map((each) => each.className)`,
          ),
        ).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
        expect(await accessibilityFaults(page)).toEqual([]);
      }
    },
  );
});
