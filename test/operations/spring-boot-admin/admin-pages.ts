import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Locator, type Page } from "playwright-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whether Chromium is installed, for `describe.runIf(requirement("chromium", chromiumFound))`. */
export const chromiumFound: boolean = existsSync(executablePath);

const SWITCHES = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A name that is not this machine's own: over plain HTTP browsers say less about their requests then.
  "--host-resolver-rules=MAP admin.test 127.0.0.1",
];

/** The pages of a Spring Boot Admin server, used as an operator does: in a browser, by what stands on the buttons. */
export interface AdminPages extends AsyncDisposable {
  readonly page: Page;
  /** What went wrong inside the pages, and answers above 499 that they got. */
  readonly faults: string[];
  /** Opens a path, at the server's address unless another is given. */
  open(path: string, at?: string): Promise<void>;
  /** All text of the page. */
  text(): Promise<string>;
  /** A row of the page of loggers: the name as it stands there. */
  logger(name: string): LoggerRow;
  /** The rows of sessions, by the id in each. */
  sessionIds(): Promise<string[]>;
}

/** A logger, or a group of loggers, with the buttons beside it. */
export interface LoggerRow {
  /** The levels whose buttons are lit; an inherited one has an asterisk. Empty where there is no such row. */
  levels(): Promise<string[]>;
  /** Presses the button. */
  press(level: string): Promise<void>;
}

/** Starts a browser that knows nothing yet. */
export async function openAdminPages(url: string): Promise<AdminPages> {
  const profile = mkdtempSync(join(tmpdir(), "connect-actuator-chromium-"));
  const browser: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: SWITCHES,
    viewport: { width: 1400, height: 900 },
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  page.setDefaultTimeout(40_000);
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("response", (response) => {
    if (response.status() > 499) faults.push(`${response.status()} ${response.url()}`);
  });

  return {
    page,
    faults,
    async open(path, at = url) {
      await page.goto(at + path, { waitUntil: "domcontentloaded" });
    },
    text: () => page.locator("body").innerText(),
    logger: (name) => loggerRow(rowOf(page, name)),
    sessionIds: () => page.locator("table.sessions tr td:first-child a").allInnerTexts(),
    async [Symbol.asyncDispose]() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function rowOf(page: Page, name: string): Locator {
  const exactly = new RegExp(`^${name.replaceAll(".", "\\.")}$`);
  return page.locator("tr").filter({ has: page.locator("td:first-child span", { hasText: exactly }) });
}

function loggerRow(row: Locator): LoggerRow {
  const button = (name: string) => row.getByRole("button", { name, exact: true });
  return {
    levels: () =>
      row
        .locator("button.is-active")
        .evaluateAll((buttons) =>
          buttons.map(
            ({ className, textContent }) => textContent!.trim() + (className.includes("--inherited") ? "*" : ""),
          ),
        ),
    press: (level) => button(level).click(),
  };
}
