// @module-tag slow
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requirement } from "../support/requirement.ts";
import { tokenFolder } from "./folders.ts";
import { Shop } from "./shop.ts";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const folder = join(import.meta.dirname, "../../examples/browser");
const FILES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  "/": ["index.html", "text/html"],
  "/page.js": ["page.js", "text/javascript"],
  "/connect.js": ["connect.js", "text/javascript"],
};

describe.runIf(requirement(executablePath, existsSync(executablePath)))("a page in a browser", () => {
  const pages = createServer((request, response) => {
    const [file, type] = FILES[request.url ?? ""] ?? [];
    response.writeHead(file === undefined ? 404 : 200, { "Content-Type": type ?? "text/plain" });
    response.end(file && readFileSync(join(folder, file)));
  });
  let origin: string;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    pages.listen(0, "127.0.0.1");
    await once(pages, "listening");
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    page = await browser.newPage();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    pages.close();
  });

  async function open(shop: Shop, token = ""): Promise<void> {
    await page.goto(origin);
    await page.getByLabel("Address").fill(`http://${shop.address}`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button").click();
  }
  const says = (text: string | RegExp) => page.locator("output").filter({ hasText: text }).waitFor();
  const level = (name: string) => page.getByLabel(`Level of ${name}`, { exact: true });
  const shows = (name: string, value: string) =>
    page.waitForFunction(
      `[...document.querySelectorAll("select")].some((s) => s.ariaLabel === "Level of ${name}" && s.value === "${value}")`,
    );

  test("sets a level with a token, sees changes arrive, and goes on when the server is started again", async () => {
    await using tokens = await tokenFolder();
    await using shop = await Shop.open({ cors: { origins: [origin] }, access: { tokens: tokens.file } });
    await open(shop);
    await says(/^unauthenticated CREDENTIALS_MISSING /);
    await open(shop, tokens.tokens.reader);
    await says("watching 4 loggers");
    await level("shop.web").selectOption("TRACE");
    await says(/^permission_denied PERMISSION_MISSING /);
    await shows("shop.web", "INFO");

    await open(shop, tokens.tokens.operator);
    await says("watching 4 loggers");
    await level("shop.web").selectOption("TRACE");
    await says("shop.web set to TRACE");
    expect(shop.actuator.loggers!.get("shop.web")).toMatchObject({ effectiveLevel: "TRACE" });
    shop.actuator.loggers!.setLevel("shop.orders", "WARN");
    await shows("shop.orders", "WARN");

    await shop.restart();
    await shows("shop.web", "INFO");
    shop.actuator.loggers!.setLevel("shop.orders", "ERROR");
    await shows("shop.orders", "ERROR");
    expect(shop.errors).toEqual([]);
  }, 120_000);

  test("reaches nothing from an origin that is not named", async () => {
    await using shop = await Shop.open();
    await open(shop);
    await says(/^unavailable /);
    expect(await page.locator("tr").count()).toBe(0);
  }, 120_000);
});
