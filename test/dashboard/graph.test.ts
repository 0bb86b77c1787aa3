// @module-tag slow
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import { createToken } from "../../src/access/token.ts";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { type Actuator, type ActuatorOptions, createActuator, integrationGraph } from "../../src/index.ts";
import { until } from "../support/until.ts";
import { largeGraph } from "./large-graph.ts";
import { accessibilityFaults, CHROMIUM, cardOf, openPage, overflow, useBrowser } from "./support.ts";

const PAYMENT = "#/graph/endpoint%3Ashop%3Aservice_activator%3Apayment";

/** Orders that are checked and paid; every order of `bad` fails. */
function orderFlow() {
  const flow = integrationGraph({ app: "shop" });
  const [orders, paid] = [flow.channel("orders"), flow.publishSubscribeChannel("paid")];
  const [rejected, failures] = [flow.channel("rejected"), flow.channel("failures")];
  const accepted = flow.pollableChannel("accepted");
  const toReport = failures.sender(
    flow.serviceActivator("report", { input: failures }).handle((_order: string) => undefined),
  );
  const toMail = paid.sender(
    flow.outboundChannelAdapter("mail", { input: paid }).handle((_order: string) => undefined),
  );
  const toApology = rejected.sender(
    flow.serviceActivator("apology", { input: rejected }).handle((_order: string) => undefined),
  );
  const toPayment = accepted.sender(
    flow.serviceActivator("payment", { input: accepted, output: paid, error: failures }).handle((order: string) => {
      if (order !== "bad") return toMail(order);
      toReport(order);
      throw new Error("declined");
    }),
  );
  const toCheck = orders.sender(
    flow.filter("in-stock", { input: orders, output: accepted, discard: rejected }).handle((order: string) => {
      (order === "none" ? toApology : toPayment)(order);
      return order !== "none";
    }),
  );
  const place = flow.gateway("checkout", { output: orders }).handle((order: string) => void toCheck(order));
  const fail = () => {
    try {
      place("bad");
    } catch {
      // The failure is what the test looks at.
    }
  };
  return { flow, place, fail };
}

async function serve(options: ActuatorOptions): Promise<{ url: string; actuator: Actuator }> {
  const actuator = createActuator({ name: "shop", access: { anonymous: ["*"] }, ...options });
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close());
  return { url, actuator };
}

const side = (page: Page) => page.locator("aside.side");
const placesOf = (page: Page): Promise<string> =>
  page.evaluate(`JSON.stringify([...document.querySelectorAll("svg.gr-all [data-card]")].map((each) =>
    [each.dataset.card, each.parentNode.getAttribute("transform")]).sort())`);
/** The lines and cards are where they stay: the worker has laid them out. */
const arranged = async (page: Page) => {
  await page.locator("svg.gr-all a.n").first().waitFor();
  await until(async () => !(await page.locator(".gr-said").allInnerTexts()).join().includes("Arranging"));
};

describe.runIf(CHROMIUM)("the graph screen", () => {
  useBrowser();
  beforeAll(() => buildDashboard(), 120_000);

  let shop: { url: string; actuator: Actuator; payment: Logger } & ReturnType<typeof orderFlow>;
  beforeAll(async () => {
    const orders = orderFlow();
    const root = pino({ base: null }, new Writable({ write: (_chunk, _encoding, done) => done() }));
    const adapter = pinoLoggers(root);
    const payment = root.child({ name: "shop.orders.payment" });
    const actuator = createActuator({
      name: "shop",
      access: { anonymous: ["*"] },
      integrationGraph: orders.flow,
      loggers: { adapters: [adapter] },
    });
    const { url } = await actuator.listen({ port: 0 });
    shop = { ...orders, url, actuator, payment };
    for (let at = 0; at < 20; at++) shop.place("good");
    shop.place("none");
  });
  afterAll(() => shop.actuator.close());

  test("draws every node and link, from top to bottom, with names, symbols and kinds", async () => {
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    await page.getByText("11 nodes").waitFor();
    expect(await page.locator("svg.gr-all a.n").count()).toBe(11);
    expect(await page.locator("svg.gr-all .lk.error").count()).toBe(1);
    expect(await page.locator("svg.gr-all .lk.discard").count()).toBe(1);
    const y = async (name: string) => (await cardOf(page, name).boundingBox())!.y;
    const order = await Promise.all(["checkout", "orders", "in-stock", "accepted", "payment", "paid", "mail"].map(y));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(await cardOf(page, "in-stock").locator("use").getAttribute("href")).toBe("#eip-filter");
    expect(await cardOf(page, "failures").locator("use").getAttribute("href")).toBe("#eip-error-channel");
    // The symbols are in the page, once.
    expect(await page.locator("#eip-filter").count()).toBe(1);
    expect(await cardOf(page, "in-stock").locator("title").textContent()).toMatch(/^in-stock, filter, .*1 in, 2 out$/);
  });

  test("shows rates and failures as they happen, and nothing moves", async () => {
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    const before = await placesOf(page);
    const traffic = setInterval(() => shop.place("good"), 20);
    onTestFinished(() => clearInterval(traffic));
    // Rates of links are measured by the page.
    await page
      .locator(".lb")
      .getByText(/^\d\d(\.\d)?\/s$/)
      .first()
      .waitFor();
    await until(async () =>
      /^\d+(\.\d)?\/s · /.test(
        (await cardOf(page, "in-stock")
          .locator(".n-sub")
          .innerText()
          .catch(() => "")) || (await cardOf(page, "in-stock").locator(".n-sub").textContent())!,
      ),
    );
    shop.fail();
    await cardOf(page, "payment")
      .locator(".n-badge")
      .getByText(/failed$/)
      .waitFor();
    expect(await cardOf(page, "payment").getAttribute("class")).toContain("bad");
    expect(await cardOf(page, "payment").locator("title").textContent()).toMatch(
      /failing, \d+ failed in the last minute/,
    );
    await page.getByText(/11 nodes · \d failing/).waitFor();
    expect(await placesOf(page)).toBe(before);
  });

  test("a card leads to everything about its node, and links lead on", async () => {
    shop.fail();
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    await cardOf(page, "payment").click();
    expect(page.url()).toContain(PAYMENT);
    await side(page).getByText("Service activator of shop.").waitFor();
    await side(page)
      .getByText(/failed in the last minute/)
      .waitFor();
    expect(await side(page).locator(".gr-io li").allInnerTexts()).toEqual([
      expect.stringMatching(/accepted\s+input/),
      expect.stringMatching(/paid\s+output/),
      expect.stringMatching(/failures\s+error/),
    ]);
    expect(await cardOf(page, "payment").getAttribute("aria-current")).toBe("true");
    expect(await page.locator(".lk.hot").count()).toBe(3);
    await side(page).getByRole("link", { name: "paid" }).click();
    await side(page).getByText("Publish subscribe channel, in process.").waitFor();
    await page.goBack();
    await side(page).getByText("Service activator of shop.").waitFor();
    await page.keyboard.press("Escape");
    await side(page).waitFor({ state: "detached" });
  });

  test("a logger with a similar name is raised for ten minutes, and its tail is a link", async () => {
    const { page } = await openPage(shop.url, PAYMENT);
    await side(page).getByRole("link", { name: "shop.orders.payment", exact: true }).waitFor();
    const tail = side(page).getByRole("link", { name: "Tail shop.orders.payment" });
    expect(await tail.getAttribute("href")).toBe("#/logs?names=shop.orders.payment");
    await side(page).getByRole("button", { name: "DEBUG, 10 min" }).click();
    await side(page).locator(".over").waitFor();
    expect(shop.actuator.loggers!.effectiveLevel("shop.orders.payment")).toBe("DEBUG");
    await shop.actuator.loggers!.restoreAllLevels();
  });

  test("focus shows what is near, as deep as asked; hide takes nodes away; the address keeps both", async () => {
    const { page } = await openPage(shop.url, PAYMENT);
    await arranged(page);
    await page.keyboard.press("f");
    await page.getByText(/Near payment: 4 of 11 nodes/).waitFor();
    await until(async () => (await page.locator("svg.gr-all a.n").count()) === 4);
    await page.getByRole("button", { name: "2 links away" }).click();
    await page.getByText(/Near payment: 7 of 11 nodes/).waitFor();
    expect(page.url()).toContain("focus=2");
    await page.reload();
    await page.getByText(/Near payment: 7 of 11 nodes/).waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await until(async () => (await page.locator("svg.gr-all a.n").count()) === 11);
    await side(page).getByRole("button", { name: "Hide" }).click();
    await page.getByText("10 of 11 nodes shown, 1 hidden.").waitFor();
    await cardOf(page, "payment").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Show all" }).click();
    await cardOf(page, "payment").waitFor();
  });

  test("finds a node by what is typed", async () => {
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    await page.getByLabel("Find a node").fill("PAY");
    await page.getByText("1 found").waitFor();
    expect(await page.locator("a.n.found").count()).toBe(1);
    await page.keyboard.press("Enter");
    await side(page).getByText("Service activator of shop.").waitFor();
    await page.getByLabel("Find a node").fill("nothing");
    await page.getByText("no node").waitFor();
  });

  test("is used with keys alone: arrows follow links, Enter opens, t shows the table", async () => {
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    const focused = () => page.evaluate('document.activeElement?.querySelector("title")?.textContent');
    await cardOf(page, "checkout").focus();
    await page.keyboard.press("ArrowDown");
    await until(async () => /^orders/.test(String(await focused())));
    await page.keyboard.press("ArrowDown");
    await until(async () => /^in-stock/.test(String(await focused())));
    await page.keyboard.press("ArrowUp");
    await until(async () => /^orders/.test(String(await focused())));
    await page.keyboard.press("ArrowDown");
    await until(async () => /^in-stock/.test(String(await focused())));
    await page.keyboard.press("Enter");
    await side(page).getByRole("heading", { name: "in-stock" }).waitFor();
    for (let press = 0; press < 3; press++) await page.keyboard.press("-");
    await page.getByText("Zoom in to read names.").waitFor();
    await page.keyboard.press("0");
    await page.keyboard.press("t");
    await page.getByRole("table").waitFor();
    await page.keyboard.press("t");
    await page.locator("svg.gr-all").waitFor();
  });

  test("the table has the same nodes, sorted as asked, with links", async () => {
    const { page } = await openPage(shop.url, "#/graph?view=table");
    const names = () => page.locator("tbody .gr-c-node").allInnerTexts();
    await page.getByRole("table").waitFor();
    expect(await names()).toEqual((await names()).toSorted());
    expect(await page.getByRole("row", { name: /^in-stock/ }).innerText()).toContain("rejected (discard)");
    await page.getByRole("columnheader").getByRole("button", { name: /^Node/ }).click();
    expect((await names())[0]).toBe("report");
    expect(await page.getByRole("columnheader", { name: /Node/ }).getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("link", { name: "payment" }).first().click();
    await side(page).getByRole("heading", { name: "payment" }).waitFor();
    expect(page.url()).toContain("view=table");
    expect(await page.locator("tr.sel").count()).toBe(1);
  });

  test("moves with the pointer and zooms with the wheel, and the small map shows where", async () => {
    const { page } = await openPage(shop.url, "#/graph", { viewport: { width: 900, height: 500 } });
    await arranged(page);
    const x = async () => (await cardOf(page, "orders").boundingBox())!.x;
    const before = await x();
    await page.mouse.move(300, 300);
    await page.mouse.down();
    await page.mouse.move(360, 340, { steps: 4 });
    await page.mouse.up();
    expect(Math.round((await x()) - before)).toBe(60);
    await expect(side(page).count()).resolves.toBe(0);
    await page.locator(".gr-mini .mm-v").waitFor();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    expect((await cardOf(page, "orders").boundingBox())!.width).toBeGreaterThan(160);
    await page.getByRole("button", { name: "Fit to window" }).click();
    await page.locator("svg.gr-all.far").waitFor();
  });

  test("exports SVG, PNG, DOT and Mermaid", async () => {
    const { page } = await openPage(shop.url, "#/graph");
    await arranged(page);
    const saved = async (format: string) => {
      await page.getByRole("button", { name: /^Export as/ }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: new RegExp(`^${format}`) }).click(),
      ]);
      return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
    };
    const svg = await saved("SVG");
    expect(svg.name).toBe("shop-graph.svg");
    const text = svg.content.toString();
    expect(text).toContain("payment");
    expect(text).not.toMatch(/<use|<a |var\(|url\(|href/);
    expect(
      await page.evaluate(
        `new DOMParser().parseFromString(${JSON.stringify(text)}, "image/svg+xml").querySelectorAll("parsererror").length`,
      ),
    ).toBe(0);
    const { content: png } = await saved("PNG");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16) > 400, png.length > 10_000]).toEqual([true, true]);
    expect((await saved("DOT")).content.toString()).toMatch(/^digraph "shop" \{[\s\S]*payment/);
    expect((await saved("Mermaid")).content.toString()).toMatch(/flowchart[\s\S]*payment/);
  });

  test("a thousand nodes are collapsed, open group by group, and can all be shown", { timeout: 120_000 }, async () => {
    const flow = integrationGraph({ app: "shop" });
    await flow.graph.addSource(largeGraph(1_000));
    const { url } = await serve({ integrationGraph: flow });
    const { page } = await openPage(url, "#/graph");
    await page.getByText("0 of 1,000 nodes shown; 1,000 are collapsed into 12 groups.").waitFor();
    await arranged(page);
    expect(await page.locator("svg.gr-all a.n.group").count()).toBe(12);
    await cardOf(page, "app-3").click();
    await side(page).getByText("84 nodes").waitFor();
    await side(page).getByRole("button", { name: "Expand" }).click();
    await page.getByText("84 of 1,000 nodes shown; 916 are collapsed into 11 groups.").waitFor();
    await cardOf(page, "app-3.step-0").waitFor({ state: "attached" });
    await page.getByRole("button", { name: /Collapsed:/ }).click();
    await page.getByRole("menuitemradio", { name: "By broker" }).click();
    await page.getByText(/RabbitMQ main is collapsed \(500 nodes\)/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByRole("button", { name: "Collapsed: nothing" }).waitFor();
    await page.locator("svg.gr-all a.n").first().waitFor();
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator("tbody tr").nth(999).waitFor({ state: "attached" });
    // A thousand nodes are found among, too.
    await page.getByLabel("Find a node").fill("app-7.step-41");
    await page.getByText("1 found").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
  });

  test("a node that appears and one that goes are drawn and taken away, and the others stay in order", async () => {
    const { flow } = orderFlow();
    const { url } = await serve({ integrationGraph: flow });
    const { page } = await openPage(url, "#/graph");
    await arranged(page);
    const audit = flow.serviceActivator("audit", { input: "paid" });
    audit.handle(() => undefined);
    await cardOf(page, "audit").waitFor();
    expect(await page.locator("svg.gr-all a.n").count()).toBe(12);
  });

  test("hostile names and properties are text", async () => {
    const flow = integrationGraph({ app: "<b>shop" });
    const name = '<img src=x onerror="document.title=1">';
    flow.channel(name, { properties: { "<i>": "<script>alert(1)</script>", deep: { a: ["\u202e", 1] } } });
    flow.serviceActivator(`\u202egnp.drawkcab ${"x".repeat(200)}`, { input: name });
    const { url } = await serve({ integrationGraph: flow });
    const { page } = await openPage(url, `#/graph/${encodeURIComponent(`channel:${name}`)}`);
    await arranged(page);
    expect(await page.locator("main img, main b, main script").count()).toBe(0);
    await side(page).getByRole("heading", { name }).waitFor();
    await side(page).getByText("<script>alert(1)</script>").waitFor();
    expect(await page.locator(".n-name").allTextContents()).toContainEqual(expect.stringMatching(/^U\+202Egnp/));
    expect(await overflow(page)).toBe(0);
    await page.goto(`${url}/actuator/ui/#/graph?view=table`);
    await page.getByRole("table").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
  });

  test("says what to do if there is no flow, no graph, or no permission", async () => {
    const empty = await serve({ integrationGraph: integrationGraph({ app: "shop" }) });
    const { page } = await openPage(empty.url, "#/graph");
    await page.getByRole("heading", { name: "No message flow is known" }).waitFor();
    const { token, ...kept } = createToken();
    const folder = await mkdtemp(join(tmpdir(), "graph-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const tokens = join(folder, "tokens.json");
    await writeFile(
      tokens,
      JSON.stringify({ version: 1, tokens: [{ ...kept, name: "reader", permissions: ["loggers:read"] }] }),
      { mode: 0o600 },
    );
    const { url } = await serve({ access: { tokens }, integrationGraph: orderFlow().flow });
    const closed = await openPage(url, "#/graph", { expected: /401|403|Failed to load/ });
    await closed.page.getByLabel("Token", { exact: true }).last().fill(token);
    await closed.page.getByRole("button", { name: "Sign in" }).click();
    await closed.page
      .getByText(/may not/)
      .first()
      .waitFor();
  });

  test.each(["light", "dark"] as const)(
    "has no accessibility fault in the %s theme, drawn or as a table",
    async (colorScheme) => {
      shop.fail();
      const { page } = await openPage(shop.url, PAYMENT, { colorScheme });
      await arranged(page);
      await cardOf(page, "payment").locator(".n-badge").waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press("t");
      await page.getByRole("table").waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    },
  );

  test.each([320, 375])("opens near one node on a screen of %s pixels", async (width) => {
    shop.fail();
    const { page } = await openPage(shop.url, PAYMENT, { viewport: { width, height: 760 }, hasTouch: true });
    await arranged(page);
    await page.getByText(/Near payment: 4 of 11/).waitFor();
    expect(await overflow(page)).toBe(0);
    const box = async (name: string) => (await cardOf(page, name).boundingBox())!;
    const [above, middle, left, right] = await Promise.all(["accepted", "payment", "paid", "failures"].map(box));
    expect([above!.y < middle!.y, left!.y > middle!.y, left!.y === right!.y]).toEqual([true, true, true]);
    expect(Math.min(left!.x, right!.x)).toBeGreaterThanOrEqual(0);
    expect(Math.max(left!.x + left!.width, right!.x + right!.width)).toBeLessThanOrEqual(width + 1);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("fits whole on a wide screen, and texts are never smaller than they should be", async () => {
    const { page } = await openPage(shop.url, "#/graph", { viewport: { width: 2560, height: 1400 } });
    await arranged(page);
    expect(await page.locator(".gr-mini").count()).toBe(0);
    expect((await cardOf(page, "orders").boundingBox())!.height).toBeGreaterThanOrEqual(44);
  });
});
