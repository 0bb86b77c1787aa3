// @module-tag slow
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { createToken } from "../../src/access/token.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { type Actuator, type ActuatorOptions, createActuator } from "../../src/index.ts";
import { until } from "../support/until.ts";
import { accessibilityFaults, CHROMIUM, openPage, openTab, overflow, useBrowser } from "./support.ts";

const NAMES = ["shop", "shop.orders", "shop.orders.http", "shop.orders.payment", "shop.web", "shop:sql"];
const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "a.\u202egnp.drawkcab",
  ".first",
  "last.",
  "two..dots",
  `long.${"name.".repeat(90)}end`,
];

interface Application {
  readonly url: string;
  readonly actuator: Actuator;
  readonly loggers: ReadonlyMap<string, Logger>;
  level(name: string): string | undefined;
}

async function application(names: readonly string[] = NAMES, options: ActuatorOptions = {}): Promise<Application> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const root = pino({ base: null }, nowhere);
  const actuator = createActuator({
    name: "shop",
    access: { anonymous: ["*", "logs:read"] },
    loggers: { adapters: [pinoLoggers(root)], groups: { money: ["shop.orders.payment", "shop.web"] } },
    ...options,
  });
  const loggers = new Map(names.map((name) => [name, root.child({ name })]));
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close());
  return { url, actuator, loggers, level: (name) => loggers.get(name)?.level };
}

/** The row of a name. */
function row(page: Page, part: string) {
  return page.locator(".lg-grid [role=row]", {
    has: page.locator("bdi", { hasText: new RegExp(`^${part.replace(/\./g, "\\.")}$`) }),
  });
}

function level(page: Page, part: string) {
  return row(page, part).locator("[role=radio][aria-checked=true]");
}

function choose(page: Page, part: string, word: string) {
  return row(page, part).getByRole("radio", { name: word }).click();
}

const toast = (page: Page, text: string | RegExp) => page.locator(".toast", { hasText: text });

describe.runIf(CHROMIUM)("the loggers screen", () => {
  useBrowser();
  beforeAll(buildDashboard, 120_000);

  test("DEBUG applies at once for ten minutes, with a way back", async () => {
    const { url, level: levelOf } = await application();
    const { page } = await openPage(url, "#/loggers");
    await choose(page, "orders", "DEBUG");
    await toast(page, "shop.orders raised to DEBUG for 10 min").waitFor();
    await until(() => levelOf("shop.orders.payment") === "debug");
    await expect.poll(() => row(page, "orders").locator(".lv").getAttribute("class")).toContain("lv changed");
    await expect.poll(() => row(page, "payment").locator(".lv").getAttribute("class")).toContain("lv via");
    await expect.poll(() => row(page, "orders").locator(".over").innerText()).toMatch(/^(10:00|9:[0-5]\d)$/);
    await expect
      .poll(() => row(page, "orders").locator("button.base").getAttribute("aria-label"))
      .toBe("INFO, returns to this level");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => levelOf("shop.orders") === "info");
    await expect.poll(() => row(page, "orders").locator(".lv").getAttribute("class")).toContain("lv inherited");
  });

  test("a less verbose level is permanent, and the level of before restores", async () => {
    const { url, level: levelOf } = await application();
    const { page } = await openPage(url, "#/loggers");
    await choose(page, "web", "ERROR");
    await toast(page, "shop.web set to ERROR permanently").waitFor();
    await row(page, "web").getByText("permanent").waitFor();
    await choose(page, "web", "INFO");
    await toast(page, "shop.web restored to INFO").waitFor();
    expect(levelOf("shop.web")).toBe("info");
    await expect.poll(() => row(page, "web").locator(".over").count()).toBe(0);
  });

  test("asks before a raise that many follow, and for a permanent one", async () => {
    const many = Array.from({ length: 30 }, (_, index) => `many.x${index}`);
    const { url, actuator } = await application([...NAMES, ...many]);
    const { page } = await openPage(url, "#/loggers/many");
    await choose(page, "many", "DEBUG");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("30 loggers follow.").waitFor();
    await dialog.getByRole("radio", { name: "1 h" }).click();
    await dialog.getByLabel("Reason, shown in the history").fill("ticket 812");
    await dialog.getByRole("button", { name: "Raise for 1 h" }).click();
    await page.locator(".lg-why").getByText("ticket 812").waitFor();
    const { override } = actuator.loggers!.get("many")!;
    expect(override!.expireTime! - override!.setTime).toBe(3_600_000);
    await page.getByRole("radio", { name: "permanent" }).click();
    await dialog.getByRole("button", { name: "Raise permanently" }).click();
    // The server limits DEBUG to a day unless configured otherwise, and says so in the dialog.
    await dialog.getByRole("alert").getByText("DEBUG without an end is not allowed").waitFor();
    expect(actuator.loggers!.get("many")!.override!.expireTime).toBeDefined();
  });

  test("two browsers see each other's changes, and Undo keeps what the other did", async () => {
    const { url, level: levelOf } = await application();
    const [{ page: alice }, { page: bob }] = [await openPage(url, "#/loggers"), await openPage(url, "#/loggers")];
    await choose(alice, "web", "DEBUG");
    await expect.poll(() => level(bob, "web").getAttribute("aria-label")).toBe("DEBUG");
    await choose(bob, "web", "TRACE");
    await expect.poll(() => level(alice, "web").getAttribute("aria-label")).toBe("TRACE");
    await toast(alice, "shop.web raised to DEBUG").getByRole("button", { name: "Undo" }).click();
    await toast(alice, "shop.web was changed again").waitFor();
    expect(levelOf("shop.web")).toBe("trace");
  });

  test("until this tab closes", async () => {
    const { url, level: levelOf } = await application();
    const opened = await openPage(url, "#/loggers");
    const tab = await openTab(opened, url, "#/loggers/shop.web");
    await tab.getByRole("radio", { name: "until this tab closes" }).click();
    await tab.getByRole("button", { name: "Raise to DEBUG" }).click();
    await row(tab, "web").getByText("this tab").waitFor();
    await row(opened.page, "web").locator(".over").waitFor();
    expect(levelOf("shop.web")).toBe("debug");
    await tab.close();
    await until(() => levelOf("shop.web") === "info");
    await expect.poll(() => row(opened.page, "web").locator(".over").count()).toBe(0);
  });

  test("a token that only reads sees why it may not change", async () => {
    const { token, ...kept } = createToken();
    const folder = await mkdtemp(join(tmpdir(), "loggers-screen-"));
    const file = join(folder, "tokens.json");
    const entry = { name: "reader", permissions: ["loggers:read"], ...kept };
    await writeFile(file, JSON.stringify({ version: 1, tokens: [entry] }), { mode: 0o600 });
    const { url, level: levelOf } = await application(NAMES, {
      access: { tokens: file, anonymous: ["info:read"] },
    });
    const { page } = await openPage(url, "#/overview", { expected: /401|403/ });
    await page.evaluate((value) => sessionStorage.setItem("connect-actuator.authorization", `Bearer ${value}`), token);
    await page.goto(`${url}/actuator/ui/#/loggers/shop.web`);
    await page.reload();
    const control = row(page, "web").locator(".lv");
    await control.waitFor();
    await expect.poll(() => control.getAttribute("title")).toBe("needs loggers:write");
    await row(page, "web").getByRole("radio", { name: "DEBUG" }).click({ force: true });
    await page.keyboard.press("6");
    await toast(page, "needs loggers:write").waitFor();
    expect(levelOf("shop.web")).toBe("info");
  });

  test("keys alone", async () => {
    const { url, level: levelOf } = await application();
    const { page } = await openPage(url, "#/loggers");
    await row(page, "web").waitFor();
    for (let step = 0; step < 4; step++) await page.keyboard.press("j");
    const focused = () => page.evaluate<string>("document.activeElement.querySelector('bdi')?.textContent");
    expect(await focused()).toBe("orders");
    await page.keyboard.press("ArrowLeft");
    expect(await row(page, "orders").getAttribute("aria-expanded")).toBe("false");
    expect(await row(page, "payment").count()).toBe(0);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("http");
    await page.keyboard.press("6");
    await until(() => levelOf("shop.orders.http") === "debug");
    await expect.poll(() => level(page, "http").getAttribute("aria-label")).toBe("DEBUG");
    await page.keyboard.press("b");
    await until(() => levelOf("shop.orders.http") === "info");
    await page.keyboard.press("Enter");
    await page.locator(".lg-side").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await until(() => levelOf("shop.orders.http") === "warn");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator(".lg-side").waitFor({ state: "detached" });
    await page.keyboard.press("h");
    await page.getByText("All changes").or(page.locator(".lg-history")).first().waitFor();
    await page.goBack();
    await page.keyboard.press("Shift+B");
    await page.getByRole("dialog").getByText("Restore").first().waitFor();
    await page.keyboard.press("Enter");
    await until(() => levelOf("shop.orders.http") === "info");
  });

  test("filters by globs, and says what is like a name that is not there", async () => {
    const { url } = await application();
    const { page } = await openPage(url, "#/loggers?filter=shop.orders.**%20!*.http");
    await row(page, "payment").waitFor();
    expect(await page.locator(".token").allInnerTexts()).toEqual(["shop.orders.**", "!*.http"]);
    expect(await row(page, "http").count()).toBe(0);
    expect(await row(page, "ROOT").getAttribute("class")).toContain("path");
    expect(await page.locator(".field-note").innerText()).toMatch(/^2 of \d+$/);
    await page.getByLabel("Remove !*.http").click();
    await row(page, "http").waitFor();
    await page.locator("#logger-filter").fill("shop.orders.paymnt");
    await page.locator("#logger-filter").press("Backspace");
    await page.goto(`${url}/actuator/ui/#/loggers?filter=shop.paymnt`);
    await page.getByRole("heading", { name: "No logger matches shop.paymnt" }).waitFor();
    await page.getByRole("link", { name: "shop.orders.payment" }).waitFor();
    await page.getByRole("button", { name: "Set a level for this name" }).click();
    await page.locator(".lg-side").getByRole("radio", { name: "WARN" }).click();
    await row(page, "paymnt").getByText("no logger yet").waitFor();
  });

  test("measures when asked, and tails beside the details", async () => {
    const { url, loggers } = await application();
    const { page } = await openPage(url, "#/loggers/shop.web");
    const web = loggers.get("shop.web")!;
    const timer = setInterval(() => {
      web.info("served");
      web.debug("looked up");
    }, 20);
    onTestFinished(() => clearInterval(timer));
    await row(page, "web").waitFor();
    await page.keyboard.press("m");
    await page.locator(".lg-progress").waitFor();
    await page.getByText(/measured for 10 s/).waitFor({ timeout: 30_000 });
    const numbers = await page.locator(".meas .num").allInnerTexts();
    expect(numbers.filter((text) => /^\+?[1-9]/.test(text))).toHaveLength(2);
    await page.keyboard.press("t");
    await page.locator(".lg-tail .ln", { hasText: "served" }).first().waitFor();
    await page.keyboard.press("t");
    await page.locator(".lg-tail").waitFor({ state: "detached" });
  });

  test("hostile names are text", async () => {
    const { url } = await application([...NAMES, ...HOSTILE]);
    const { page } = await openPage(url, `#/loggers/${encodeURIComponent(HOSTILE[0]!)}`);
    page.on("dialog", () => expect.fail("a script ran"));
    await page.locator(".lg-side h2", { hasText: HOSTILE[0]! }).waitFor();
    expect(await page.locator(".lg-grid img, .lg-side img").count()).toBe(0);
    await page.goto(`${url}/actuator/ui/#/loggers?view=list&filter=!long`);
    await row(page, "two..dots").waitFor();
    await page.getByText("U+202Egnp.drawkcab").waitFor();
    await choose(page, "last.", "DEBUG");
    await toast(page, "last. raised to DEBUG").waitFor();
    expect(await overflow(page)).toBe(0);
  });

  test.each(["light", "dark"] as const)("passes axe and fits every width, %s", async (colorScheme) => {
    const { url, actuator } = await application([...NAMES, ...HOSTILE]);
    actuator.loggers!.setLevel("shop.orders", "DEBUG", { ttlMs: 600_000, actor: "alice", reason: "ticket 812" });
    actuator.loggers!.setLevel("money", "WARN", { actor: "bob" });
    const { page } = await openPage(url, "#/loggers?filter=!long", { colorScheme });
    await row(page, "orders").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const hash of [
      "#/loggers/shop.orders",
      "#/loggers/money?tail=1",
      "#/loggers?history=1",
      "#/loggers?filter=none",
    ]) {
      await page.goto(`${url}/actuator/ui/${hash}`);
      await page.waitForTimeout(400);
      expect(await accessibilityFaults(page), hash).toEqual([]);
      for (const width of [320, 375, 1280, 2560]) {
        await page.setViewportSize({ width, height: 860 });
        expect(await overflow(page), `${hash} at ${width}`).toBe(0);
      }
      await page.setViewportSize({ width: 1280, height: 860 });
    }
    await page.goto(`${url}/actuator/ui/#/loggers/shop.orders`);
    await page.locator(".lg-side").getByRole("radio", { name: "permanent" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("lists 20,000 loggers, and scrolls", async () => {
    const names = Array.from(
      { length: 20_000 },
      (_, index) => `app.part${index % 40}.area${index % 400}.logger${index}`,
    );
    const { url, actuator } = await application(names);
    const { page } = await openPage(url, "#/loggers?view=list");
    const rowCount = () => page.locator(".lg-grid").getAttribute("aria-rowcount");
    await expect.poll(rowCount).toMatch(/^20\d\d\d$/);
    const listedMs = await page.evaluate<number>(`new Promise((done) => {
      const begin = performance.now();
      location.hash = "#/loggers?view=list&filter=logger";
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
    })`);
    await page.reload();
    await page.locator(".lg-grid [data-index='3']").waitFor();
    const loadedMs = await page.evaluate<number>("performance.now()");
    const frames = await page.evaluate<number[]>(`new Promise((done) => {
      const scroller = document.querySelector(".lg .scroll");
      const times = [];
      let last = performance.now();
      const step = (now) => {
        times.push(now - last);
        last = now;
        scroller.scrollTop += 400;
        if (times.length < 120) requestAnimationFrame(step);
        else done(times);
      };
      requestAnimationFrame(step);
    })`);
    await page.evaluate(`
      window.longest = 0;
      new PerformanceObserver((list) => { for (const each of list.getEntries()) window.longest = Math.max(window.longest, each.duration); })
        .observe({ type: "longtask" });`);
    actuator.loggers!.setLevel("ROOT", "WARN", { actor: "alice" });
    await expect
      .poll(() => page.locator(".lg-grid [data-index] [aria-checked=true]").last().getAttribute("aria-label"))
      .toBe("WARN");
    const stallMs = await page.evaluate<number>("window.longest");
    const sorted = frames.slice(1).sort((a, b) => a - b);
    console.log(
      `20,000 loggers: page loaded and listed after ${loadedMs.toFixed(0)} ms, filtered in ${listedMs.toFixed(0)} ms; ` +
        `frames while scrolling 400 px each: median ${sorted[60]!.toFixed(1)} ms, p95 ${sorted[113]!.toFixed(1)} ms, ` +
        `worst ${sorted.at(-1)!.toFixed(1)} ms; longest task at a change of ROOT ${stallMs.toFixed(0)} ms`,
    );
    expect(await page.locator(".lg-grid [role=row]").count()).toBeLessThan(80);
  });
});
