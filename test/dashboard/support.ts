import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { requirement } from "../support/requirement.ts";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whether there is a browser, for `describe.runIf(CHROMIUM)`. */
export const CHROMIUM = requirement("Chromium (/usr/bin/chromium, or set CHROMIUM)", existsSync(executablePath));

let browser: Browser | undefined;

/** Starts one browser for the tests of a file. To be called once, at its top or in its `describe`. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());
}

/** How a page is opened, besides what playwright offers. */
export interface PageOptions extends BrowserContextOptions {
  /** Errors in the console that the test provokes, such as those of requests that fail. */
  readonly expected?: RegExp;
}

/** The page of an actuator. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors of scripts, errors in the console and violations of the Content-Security-Policy so far. */
  readonly errors: readonly string[];
}

/**
 * Opens `{url}{path}` in a browser session of its own, 1280 × 860 unless the options say otherwise. When the test ends, any error of the page
 * fails it.
 *
 * @param path the rest of the address, such as `#/loggers`
 */
export async function openPage(url: string, path = "", options: PageOptions = {}): Promise<OpenedPage> {
  const { expected, ...context } = options;
  const session = await browser!.newContext({ viewport: { width: 1280, height: 860 }, ...context });
  const errors: string[] = [];
  onTestFinished(async () => {
    await session.close();
    expect(errors, "the page reported errors").toEqual([]);
  });
  const page = await session.newPage();
  listen(page, errors, expected);
  await page.goto(`${url}/actuator/ui/${path}`);
  return { page, errors };
}

/** Opens a further tab of the same browser session. */
export async function openTab({ page, errors }: OpenedPage, url: string, path = ""): Promise<Page> {
  const tab = await page.context().newPage();
  listen(tab, errors as string[]);
  await tab.goto(`${url}/actuator/ui/${path}`);
  return tab;
}

function listen(page: Page, errors: string[], expected = /(?!)/): void {
  page.on("pageerror", (error) => errors.push(error.stack ?? error.message));
  // Violations of the policy are errors in the console, too.
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text())) errors.push(message.text());
  });
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe-core finds against WCAG 2.2 AA and its best practices: each rule with the elements. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, "utf8"));
  // As text, since the tests know no DOM.
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html)))`);
}

/** By how many pixels the page is wider than its window; 0: it fits. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** A node in the drawing of the graph. */
export function cardOf(page: Page, name: string): Locator {
  return page.locator("svg.gr-all a.n").filter({ has: page.getByText(name, { exact: true }) });
}
