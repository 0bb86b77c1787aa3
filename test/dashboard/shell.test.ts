// @module-tag slow
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { createToken } from "../../src/access/token.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { type ActuatorOptions, createActuator } from "../../src/index.ts";
import { CHROMIUM, openPage, overflow, useBrowser } from "./support.ts";

const SOON = { timeout: 20_000 };
const REFUSED = /401|403/;

async function application(options: ActuatorOptions = {}, names = ["orders", "orders.payment", "mail"], port = 0) {
  const root = pino({ base: null }, new Writable({ write: (_chunk, _encoding, done) => done() }));
  const adapter = pinoLoggers(root);
  // Loggers that are no longer used would be collected.
  const loggers = names.map((name) => root.child({ name }));
  const actuator = createActuator({ name: "shop", loggers: { adapters: [adapter] }, ...options });
  const { url } = await actuator.listen({ port });
  onTestFinished(async () => {
    await actuator.close();
    loggers.length = 0;
  });
  return { url, actuator };
}

/** A file with one token of alice, and a function that writes it anew. */
async function tokenFile(permissions: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "connect-actuator-shell-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const tokens = join(folder, "tokens.json");
  const { token, ...kept } = createToken();
  const write = (entries: unknown[]) =>
    writeFile(tokens, JSON.stringify({ version: 1, tokens: entries }), { mode: 0o600 });
  await write([{ name: "alice", permissions, ...kept }]);
  return { tokens, token, revoke: () => write([]) };
}

async function setLevel(url: string, name: string, configuredLevel: string | null): Promise<void> {
  const response = await fetch(`${url}/actuator/loggers/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ configuredLevel }),
  });
  expect(response.status).toBe(204);
}

const palette = (page: Page) => page.getByRole("dialog", { name: "Find" });
/** Waits until the page knows the application and its caller. */
const live = (page: Page) => page.locator(".nav-foot bdi").waitFor();

describe.runIf(CHROMIUM)("the frame of the page", () => {
  useBrowser();
  beforeAll(async () => {
    await buildDashboard();
  });

  test("g and a letter go to the screens, and the title says which", async () => {
    const { url } = await application();
    const { page } = await openPage(url);
    await live(page);
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await expect.poll(() => page.title(), SOON).toBe("Loggers · shop");
    expect(new URL(page.url()).hash).toBe("#/loggers");
    // Sessions and graph are not configured, so neither a link nor a key leads there.
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    expect(await page.getByRole("navigation").getByRole("link").allInnerTexts()).toEqual([
      "Overview",
      "Loggers",
      "Logs",
    ]);
    expect(new URL(page.url()).hash).toBe("#/loggers");
  });

  test("the palette finds loggers, runs actions, and gives the focus back", async () => {
    const { url } = await application({ access: { anonymous: ["*", "logs:read"] } });
    const { page } = await openPage(url);
    await live(page);
    const button = page.getByRole("button", { name: /^Find a logger/ });
    await button.focus();
    await page.keyboard.press("/");
    await palette(page).waitFor();
    await page.keyboard.type("pay");
    const options = palette(page).getByRole("option");
    await expect
      .poll(() => options.allInnerTexts(), SOON)
      .toEqual([expect.stringContaining("orders.payment"), expect.stringContaining("Tail orders.payment")]);
    await page.keyboard.press("Escape");
    await palette(page).waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.className")).toBe("top-find");

    await page.keyboard.press("/");
    await palette(page).waitFor();
    await page.keyboard.type("orders");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#/loggers/orders.payment");
    await page.keyboard.press("/");
    await palette(page).waitFor();
    await page.keyboard.type("go to log");
    await expect
      .poll(() => options.allInnerTexts(), SOON)
      .toEqual([expect.stringContaining("Go to Loggers"), expect.stringContaining("Go to Logs")]);
    await page.keyboard.press("ArrowDown");
    await palette(page)
      .getByRole("option", { name: /^Go to Logs/, selected: true })
      .waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash, SOON).toBe("#/logs");
  });

  test("keys of one character can be switched off, and stay so", async () => {
    const { url } = await application();
    const { page } = await openPage(url);
    await live(page);
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.reload();
    await live(page);
    await page.keyboard.press("/");
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Keys and help" }).click();
    await help.waitFor();
    expect(await palette(page).isVisible()).toBe(false);
    await help.getByRole("checkbox").check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await palette(page).waitFor();
  });

  test("changes of others appear with their name, many of them as one", async () => {
    const { url } = await application({}, ["a", "b", "c", "d", "e"]);
    const { page } = await openPage(url);
    await live(page);
    await page.getByText("1 connection shared").waitFor();
    await expect
      .poll(async () => {
        await setLevel(url, "a", "WARN");
        return page.locator(".toast").count();
      }, SOON)
      .toBeGreaterThan(0);
    expect(await page.locator(".toast").first().innerText()).toContain("127.0.0.1 set a to WARN");
    for (const name of ["b", "c", "d", "e"]) await setLevel(url, name, "ERROR");
    await page.getByText(/set \d levels/).waitFor();
    await page.getByRole("link", { name: "Loggers 5 changed" }).waitFor();
  });

  test("without credentials a token is asked for; a wrong one is told, the right one signs in and out", async () => {
    const { tokens, token } = await tokenFile(["loggers:read"]);
    const { url } = await application({ access: { tokens } });
    const { page } = await openPage(url, "", { expected: REFUSED });
    const field = page.getByLabel("Token", { exact: true }).and(page.locator("input"));
    await field.fill("ca_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("This is not a token of this service.").waitFor();
    await field.fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "alice" }).click();
    const person = page.getByRole("dialog", { name: "alice" });
    expect(await person.innerText()).toContain("loggers:read");
    expect(page.url()).not.toContain("ca_");
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")).not.toContain(token);
    // No permission to change anything, so the palette offers nothing of the kind.
    await person.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    expect(await page.getByRole("navigation").innerText()).not.toContain("alice");
  });

  test("a token is remembered by choice, until its tab closes", async () => {
    const { tokens, token } = await tokenFile(["loggers:read"]);
    const { url } = await application({ access: { tokens } });
    const { page } = await openPage(url, "", { expected: REFUSED });
    await page.locator("input[type=password]").fill(token);
    await page.getByRole("checkbox").check();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "alice" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "alice" }).waitFor();
  });

  test("a revoked token is told, and what was known stays", async () => {
    const { tokens, token, revoke } = await tokenFile(["loggers:read", "info:read"]);
    const { url } = await application({ access: { tokens } });
    const { page } = await openPage(url, "", { expected: REFUSED });
    await page.locator("input[type=password]").fill(token);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "alice" }).waitFor();
    await revoke();
    const alert = page.getByRole("alert");
    await alert.waitFor({ timeout: 20_000 });
    expect(await alert.innerText()).toContain("no longer accepts");
    await alert.getByRole("button", { name: "Use another token" }).click();
    await page.getByRole("dialog", { name: "Sign in" }).waitFor();
  });

  test("the name of the application is text", async () => {
    const name = '<img src=x onerror="alert(1)">\u202egnp.exe';
    const { url } = await application({ name });
    const { page } = await openPage(url);
    await live(page);
    await expect.poll(() => page.locator(".nav-app strong").innerText(), SOON).toBe(name.replace("\u202e", "U+202E"));
    expect(await page.locator("img").count()).toBe(0);
  });

  test("20,000 loggers are searched", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `module${index % 100}.class${index}`);
    const { url } = await application({}, names);
    const { page } = await openPage(url);
    await live(page);
    await page.keyboard.press("/");
    await palette(page).waitFor();
    await page.keyboard.type("class1999");
    await expect
      .poll(() => palette(page).getByRole("option").first().innerText(), SOON)
      .toContain("module99.class1999");
    expect(await palette(page).getByRole("option").count()).toBeLessThan(12);
  });

  test.each([320, 375, 768, 1280, 2560])("nothing is wider than a window of %i px", async (width) => {
    const { url } = await application();
    const { page } = await openPage(url, "", { viewport: { width, height: 700 } });
    await page.getByRole("button", { name: /^Find a logger/ }).click();
    await palette(page).waitFor();
    expect(await overflow(page)).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    expect(await overflow(page)).toBe(0);
  });

  test("the first Tab is the way past the navigation", async () => {
    const { url } = await application();
    const { page } = await openPage(url);
    await live(page);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    expect(new URL(page.url()).hash).toBe("");
  });
});
