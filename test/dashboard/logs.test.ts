// @module-tag slow
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import winston from "winston";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { createToken } from "../../src/access/token.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { winstonLoggers } from "../../src/adapters/loggers/winston/index.ts";
import { type Actuator, type ActuatorOptions, createActuator } from "../../src/index.ts";
import { WrittenLibrary } from "../logs/written-library.ts";
import { until } from "../support/until.ts";
import { accessibilityFaults, CHROMIUM, openPage, overflow, type PageOptions, useBrowser } from "./support.ts";

const OPEN = { anonymous: ["*", "logs:read"] } as const;

/** An application with loggers of two libraries, and its actuator. */
interface Application {
  readonly url: string;
  readonly orders: Logger;
  readonly payment: Logger;
  readonly mail: winston.Logger;
  readonly actuator: Actuator;
  close(): Promise<void>;
}

async function application(options: ActuatorOptions = {}, port = 0): Promise<Application> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const root = pino({ base: null }, nowhere);
  const adapter = pinoLoggers(root);
  const mails = winston.createLogger({ transports: [new winston.transports.Stream({ stream: nowhere })] });
  const actuator = createActuator({
    name: "shop",
    access: OPEN,
    loggers: { adapters: [adapter, winstonLoggers(mails)] },
    ...options,
  });
  const orders = root.child({ name: "orders" });
  const payment = root.child({ name: "orders.payment" });
  const mail = mails.child({ logger: "mail" });
  const { url } = await actuator.listen({ port });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await actuator.close();
    isClosed = true;
  };
  onTestFinished(close);
  return { url, orders, payment, mail, actuator, close };
}

describe.runIf(CHROMIUM)("the logs screen", () => {
  useBrowser();
  beforeAll(() => buildDashboard(), 120_000);

  /** Opens the screen; dialogs of the browser fail the test, too. */
  async function open(url: string, hash = "#/logs", options: PageOptions = {}): Promise<Page> {
    const { page, errors } = await openPage(url, hash, options);
    page.setDefaultTimeout(30_000);
    page.on("dialog", (dialog) => (errors as string[]).push(`dialog: ${dialog.message()}`));
    return page;
  }

  const listening = (page: Page) => page.getByText(/^(Listening to|No logger has)/).waitFor();
  const line = (page: Page, text: string | RegExp) => page.locator(".ln").filter({ hasText: text });
  const note = (page: Page, text: string | RegExp) => page.locator(".ln-note").filter({ hasText: text });
  const levelOf = ({ actuator }: Application, name: string) => actuator.loggers!.effectiveLevel(name);

  test("shows what loggers of two libraries write, with an error, its fields and the ways on", async () => {
    const app = await application();
    const page = await open(app.url);
    await listening(page);
    app.orders.info({ order: 88231, user: { name: "m.ferreira", password: "secret" }, ms: 12 }, "charge failed");
    app.mail.warn("not sent", { to: "x" });
    app.payment.error(new TypeError("no answer"), "gave up");
    await line(page, "charge failed").waitFor();
    expect(await line(page, "charge failed").innerText()).toMatch(
      /INFO\s+orders\s+charge failed order=88231 .*user.password=redacted.* ms=12/,
    );
    expect(await line(page, "not sent").getAttribute("class")).toContain("warn");
    expect(await line(page, "gave up").getAttribute("class")).toContain("error");

    await line(page, "gave up").locator("time").click();
    expect(await page.getByRole("region", { name: "Stack" }).innerText()).toMatch(/^TypeError: no answer\n\s+at /);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".rec").count()).toBe(0);

    await line(page, "charge failed").locator("time").click();
    expect(await page.getByRole("link", { name: "Its logger" }).getAttribute("href")).toBe("#/loggers/orders");
    expect(await page.getByRole("link", { name: "Sessions of m.ferreira" }).getAttribute("href")).toBe(
      "#/sessions/m.ferreira",
    );
    await page.getByRole("button", { name: "Only ms=12" }).waitFor();
    await page.locator(".rec-acts").getByRole("button", { name: "Only order=88231" }).click();
    await expect.poll(() => page.url()).toContain("search=order%3D88231");
    // What is here already and does not match goes, and what comes is selected by the server.
    await expect.poll(() => page.locator(".ln").count()).toBe(1);
    app.orders.info({ order: 1 }, "another");
    app.orders.info({ order: 88231 }, "the same");
    await line(page, "the same").waitFor();
    expect(await line(page, "another").count()).toBe(0);
  });

  test("restores names, level and search from the address, and marks what was sought", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?names=orders.*,nothing&level=WARN&search=paid");
    await listening(page);
    app.payment.info("paid, but too little");
    app.orders.warn("paid, but another logger");
    app.payment.warn("order PAID late");
    await line(page, "late").waitFor();
    expect(await page.locator(".ln").count()).toBe(1);
    expect(await page.locator("mark").innerText()).toBe("PAID");
    expect(await page.locator(".token.not").innerText()).toBe("nothing");
    await page.getByRole("button", { name: "Remove nothing" }).click();
    await expect.poll(() => page.url()).not.toContain("nothing");
  });

  test("says what to write instead of a pattern that no server knows", async () => {
    const app = await application();
    const page = await open(app.url);
    await page.getByLabel("Loggers").fill("orders.**");
    await page.getByLabel("Loggers").press("Enter");
    expect(await page.getByRole("alert").innerText()).toContain("write orders.*");
    await page.getByLabel("Loggers").fill("orders.*,mail");
    await page.getByLabel("Loggers").press("Enter");
    await expect.poll(() => decodeURIComponent(page.url())).toContain("names=orders.*,mail");
  });

  test("raises a level while it is open, marks what that added, and restores it", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?names=orders");
    await listening(page);
    await page.getByRole("button", { name: "Raise …" }).click();
    await page.getByLabel("Reason, shown in the history").fill("why is 4711 stuck");
    await page.getByRole("button", { name: "Raise to DEBUG" }).click();
    await page.locator(".alert.changed").waitFor();
    expect(await page.locator(".alert.changed").innerText()).toMatch(
      /orders is held at\s*DEBUG\s*for you and returns to\s*INFO\s*when this tail closes, at \d\d:\d\d:\d\d at the latest\./,
    );
    expect(levelOf(app, "orders")).toBe("DEBUG");
    app.orders.debug("only now");
    app.orders.info("as ever");
    await line(page, "as ever").waitFor();
    expect(await line(page, "only now").getAttribute("class")).toContain("added");
    expect(await line(page, "as ever").getAttribute("class")).not.toContain("added");
    expect(page.url()).toContain("raise=DEBUG");

    await page.getByRole("button", { name: "Stop and restore" }).first().click();
    await until(() => levelOf(app, "orders") === "INFO");
    await expect.poll(() => page.url()).not.toContain("raise=");
  });

  test("a raise outlives other screens, and ends with the tab", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?names=orders");
    await page.getByRole("button", { name: "Raise …" }).click();
    await page.getByRole("button", { name: "Raise to DEBUG" }).click();
    await until(() => levelOf(app, "orders") === "DEBUG");
    await page.goto(`${app.url}/actuator/ui/#/sessions`);
    await page.locator('.app[data-page="sessions"]').waitFor();
    expect(levelOf(app, "orders")).toBe("DEBUG");
    await page.goto(`${app.url}/actuator/ui/#/logs?names=orders&search=x`);
    await page.locator(".alert.changed").waitFor();
    expect(levelOf(app, "orders")).toBe("DEBUG");
    await page.close();
    await until(() => levelOf(app, "orders") === "INFO");
  });

  test("a link that names a raise only asks", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?names=orders&raise=TRACE");
    await page.getByRole("dialog").waitFor();
    await listening(page);
    expect(levelOf(app, "orders")).toBe("INFO");
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(levelOf(app, "orders")).toBe("INFO");
    expect(page.url()).not.toContain("raise=");
  });

  test("tells when a raise makes too many records, and that another operator overruled it", async () => {
    const app = await application({ logs: { maxRaisedPerSecond: 50 } });
    const page = await open(app.url, "#/logs?names=orders");
    const raise = async () => {
      await page.getByRole("button", { name: "Raise …" }).click();
      await page.getByRole("button", { name: "Raise to DEBUG" }).click();
      await page.locator(".alert.changed").waitFor();
    };
    await raise();
    for (let at = 0; at < 60; at++) app.orders.debug(`flood ${at}`);
    await note(page, "Level restored to INFO: over 50 lines per second").waitFor();
    await page.locator(".alert.changed").waitFor({ state: "detached" });
    await raise();
    app.actuator.loggers!.setLevel("orders", "WARN", { actor: "bob" });
    await note(page, "bob set another level").waitFor();
  });

  test("goes on without a raise that the library refuses, and says why", async () => {
    const app = await application({
      loggers: { adapters: [new WrittenLibrary(["orders"], "it cannot hide records")] },
    });
    const page = await open(app.url);
    await listening(page);
    await page.getByRole("button", { name: "Raise …" }).click();
    await page.getByLabel("Show the additional records only here").check();
    await page.getByRole("button", { name: "Raise to DEBUG" }).click();
    await note(page, "Not raised: ").waitFor();
    expect(await page.locator(".alert.changed").count()).toBe(0);
    await expect.poll(() => page.url()).not.toContain("raise=");
  });

  test("keeps up with 2,000 records a second, and keeps the page small", async () => {
    const app = await application();
    const page = await open(app.url);
    await listening(page);
    let written = 0;
    const timer = setInterval(() => {
      for (let at = 0; at < 40; at++) app.orders.info({ order: written }, `record ${written++}`);
    }, 20);
    onTestFinished(() => clearInterval(timer));
    await until(() => written > 7_000);
    expect(await page.locator(".ln").count()).toBeLessThan(1_200);
    clearInterval(timer);
    await line(page, `record ${written - 1} `).waitFor();
    const scrolled = await page.locator(".log").evaluate((log) => log.scrollTop);
    expect(scrolled).toBe(0);

    await page.getByRole("button", { name: "Show", exact: true }).click();
    expect(await page.locator(".ln").count()).toBeGreaterThan(1_200);
  }, 40_000);

  test("tells how many records were dropped", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?search=needle");
    await listening(page);
    for (let at = 0; at < 15_000; at++) app.orders.info("hay");
    await note(page, /[\d,]+ records dropped: more in a second than the service looks at/).waitFor();
  });

  test("pauses by key, button, scrolling and an open record, and counts what is newer", async () => {
    const app = await application();
    const page = await open(app.url);
    await listening(page);
    for (let at = 0; at < 100; at++) app.orders.info(`first ${at} of these`);
    await line(page, "first 99 of").waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("Space");
    await note(page, "Paused").waitFor();
    for (let at = 0; at < 5; at++) app.orders.info("newer");
    await note(page, "Paused · 5 newer records").waitFor();
    expect(await line(page, "newer").count()).toBe(0);
    await page.keyboard.press("Space");
    await expect.poll(() => line(page, "newer").count()).toBe(5);

    await page.locator(".log").hover();
    await page.mouse.wheel(0, -600);
    await note(page, "Paused").waitFor();
    await page.mouse.wheel(0, 2_000);
    await note(page, "Paused").waitFor({ state: "detached" });

    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.locator(".rec").waitFor();
    await note(page, "Paused").waitFor();
    await page.keyboard.press("Escape");
    await note(page, "Paused").waitFor({ state: "detached" });
  });

  test("shows texts from outside as text", async () => {
    const app = await application();
    const page = await open(app.url);
    await listening(page);
    const hostile = `<img src=x onerror="alert(1)"> \u001b[31mred \u202eevil\u0000 \ud800 ${"long ".repeat(2_000)}`;
    app.orders.info({ "<b>key": hostile, ["k".repeat(10_000)]: 1 }, hostile);
    app.orders.child({ name: `<img src=x onerror=alert(2)>` }).info("from a hostile logger");
    await line(page, "from a hostile logger").waitFor();
    const text = await line(page, "U+001B[31mred").innerText();
    expect(text).toContain('<img src=x onerror="alert(1)">');
    expect(text).toContain("U+202Eevil");
    expect(await page.locator("main img").count()).toBe(0);
    await line(page, "U+001B[31mred").locator("time").click();
    await page.getByRole("region", { name: "Message" }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("a caller without the permission reads how it is granted", async () => {
    const app = await application({ access: { anonymous: ["*"] } });
    const page = await open(app.url, "#/logs", { expected: /Failed to load/ });
    await page.getByRole("heading", { name: "You may not read log records" }).waitFor();
    expect(await page.locator("pre.cmd").innerText()).toContain("logs:read");
  });

  test("a token that is revoked ends the tail, and restores what it raised", async () => {
    const folder = await mkdtemp(join(tmpdir(), "connect-actuator-logs-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "tokens.json");
    const { token, ...kept } = createToken();
    const entry = { name: "alice", permissions: ["*", "logs:read"], ...kept };
    const write = (tokens: unknown[]) => writeFile(file, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
    await write([entry]);
    const app = await application({ access: { tokens: file, anonymous: ["info:read"] } });
    const page = await open(app.url, "#/overview", { expected: /Failed to load/ });
    await page.evaluate((value) => sessionStorage.setItem("connect-actuator.authorization", `Bearer ${value}`), token);
    await page.goto(`${app.url}/actuator/ui/?again#/logs?names=orders`);
    await listening(page);
    await page.getByRole("button", { name: "Raise …" }).click();
    await page.getByRole("button", { name: "Raise to DEBUG" }).click();
    await until(() => levelOf(app, "orders") === "DEBUG");
    await write([]);
    await until(() => levelOf(app, "orders") === "INFO");
    await expect
      .poll(() => page.locator("main").innerText(), { timeout: 10_000 })
      .toMatch(/Sign in|ended this tail|cannot be read|revoked/i);
  }, 30_000);

  test("survives a restart of the service: nothing comes twice, and the gap is told", async () => {
    const first = await application();
    const port = Number(new URL(first.url).port);
    const page = await open(first.url, "#/logs", { expected: /Failed to load/ });
    await listening(page);
    first.orders.info("before the restart");
    await line(page, "before the restart").waitFor();
    await first.close();
    await note(page, "No connection for").waitFor();
    const second = await application({}, port);
    await note(page, /Reconnected after \d+ s/).waitFor({ timeout: 20_000 });
    await note(page, "Records may be missing").waitFor();
    second.orders.info("after the restart");
    await line(page, "after the restart").waitFor();
    expect(await line(page, "before the restart").count()).toBe(1);
  }, 40_000);

  test("copies and downloads what is shown as JSON lines", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs", { permissions: ["clipboard-read", "clipboard-write"] });
    await listening(page);
    app.orders.info({ order: 1 }, "one");
    app.orders.info("two");
    await line(page, "two").waitFor();
    await page.getByRole("button", { name: "Copy what is shown" }).click();
    await page.getByText("2 records copied").waitFor();
    const copied = (await page.evaluate("navigator.clipboard.readText()")) as string;
    expect(copied.split("\n").map((each) => JSON.parse(each).message)).toEqual(["one", "two"]);
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = readFileSync(await (await downloaded).path(), "utf8");
    expect(JSON.parse(file.split("\n")[0]!)).toMatchObject({ message: "one", fields: { order: 1 }, level: "INFO" });
  });

  test("has no fault of accessibility, and fits every width in both themes", async () => {
    const app = await application();
    const page = await open(app.url, "#/logs?names=orders,orders.*,mail");
    await listening(page);
    app.orders.info({ order: 1, customer: "a", password: "x" }, "paid");
    app.mail.warn("late");
    app.payment.error(new Error("no answer"), "gave up");
    await line(page, "gave up").locator("time").click();
    await page.locator(".rec").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const width of [320, 375, 1280, 2560]) {
        await page.setViewportSize({ width, height: 860 });
        expect(await overflow(page), String(width)).toBe(0);
        expect(await accessibilityFaults(page), `${width} ${colorScheme}`).toEqual([]);
      }
    }
  }, 60_000);
});
