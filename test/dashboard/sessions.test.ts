// @module-tag slow
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import { type Browser as Chromium, chromium, type Page } from "playwright-core";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildDashboard } from "../../scripts/dashboard.ts";
import type { PermissionPattern } from "../../src/access/permission.ts";
import { type ConnectRedisOptions, connectRedisSessions } from "../../src/adapters/sessions/connect-redis/index.ts";
import { expressSessions } from "../../src/adapters/sessions/express-session/index.ts";
import {
  type ActuatorOptions,
  cookieOnlySessions,
  createActuator,
  memorySessions,
  type SessionStore,
} from "../../src/index.ts";
import type { SessionsOptions } from "../../src/sessions/sessions.ts";
import { Browser } from "../support/browser.ts";
import { redisFound, startRedis } from "../support/redis-server.ts";
import { requirement } from "../support/requirement.ts";
import { tokensFor } from "../support/tokens.ts";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const AXE = join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js");
const ID_KEY = "a key for the ids of this test only";

/** Starts an actuator; returns the address of its page. */
async function serve(options: ActuatorOptions): Promise<string> {
  const actuator = createActuator({ name: "shop", ...options });
  const { url } = await actuator.listen({ port: 0 });
  onTestFinished(() => actuator.close());
  return `${url}/actuator/ui/`;
}

/** An application with express-session, whose visitors log in at `/login/alice`. */
async function application(options: ActuatorOptions = {}, shown: Partial<SessionsOptions> = {}) {
  const store = new session.MemoryStore();
  const sessions = expressSessions(store);
  const app = express();
  app.use(session({ store, secret: "s", resave: false, saveUninitialized: false, cookie: { maxAge: 60 * 60_000 } }));
  app.post("/login/:user", (request, response) => {
    const kept = request.session as unknown as Record<string, unknown>;
    kept.user = { username: request.params.user };
    for (const name of String(request.query.keep ?? "cart").split(",")) kept[name] = 1;
    response.end();
  });
  app.post("/visit", (request, response) => {
    (request.session as unknown as Record<string, unknown>).cart = 1;
    response.end();
  });
  app.get("/account", (request, response) => {
    const { user } = request.session as unknown as { user?: { username: string } };
    response.status(user === undefined ? 401 : 200).end(user?.username);
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ui = await serve({ sessions: { store: sessions, idKey: ID_KEY, ...shown }, ...options });
  return {
    ui,
    async login(user: string, keep = "cart"): Promise<Browser> {
      const visitor = new Browser(base, /connect\.sid=s:([^.]+)/);
      await visitor.post(`/login/${encodeURIComponent(user)}?keep=${encodeURIComponent(keep)}`);
      return visitor;
    },
    async visit(): Promise<Browser> {
      const visitor = new Browser(base, /connect\.sid=s:([^.]+)/);
      await visitor.post("/visit");
      return visitor;
    },
  };
}

const isLoggedIn = async (visitor: Browser) => (await visitor.get("/account")).status === 200;

describe.runIf(requirement(executablePath, existsSync(executablePath)))("the sessions screen", () => {
  let chrome: Chromium;
  beforeAll(async () => {
    await buildDashboard();
    chrome = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  }, 120_000);
  afterAll(() => chrome?.close());

  /** Opens the screen in a browser of its own. Faults of the page fail the test. */
  async function open(
    ui: string,
    hash = "",
    how: Parameters<Chromium["newContext"]>[0] & { mayFail?: boolean; authorization?: string } = {},
  ) {
    const { mayFail = false, authorization, ...options } = how;
    const context = await chrome.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    const page = await context.newPage();
    if (authorization !== undefined) {
      const remember = (value: string) => sessionStorage.setItem("connect-actuator.authorization", value);
      await page.addInitScript(remember, authorization);
    }
    page.setDefaultTimeout(15_000);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error.stack)));
    page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
    page.on("console", (message) => {
      // The browser itself logs requests that are refused.
      if (message.type() === "error" && !(mayFail && /Failed to load/.test(message.text())))
        faults.push(message.text());
    });
    onTestFinished(async () => {
      await context.close();
      expect(faults).toEqual([]);
    });
    await page.goto(`${ui}#/sessions${hash}`);
    return page;
  }

  const rows = (page: Page) => page.locator(".se tbody tr");
  const users = (page: Page) => page.locator(".se tbody .se-user").allInnerTexts();
  const side = (page: Page) => page.locator("aside");
  const dialog = (page: Page) => page.locator("dialog[open]");
  const toasts = (page: Page) => page.locator(".toasts");

  async function expectAccessible(page: Page): Promise<void> {
    await page.evaluate(await readFile(AXE, "utf8"));
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
    expect(violations).toEqual([]);
  }

  test("lists sessions, newest access first, and opens those of a user", async () => {
    const app = await application();
    await app.login("alice");
    await app.visit();
    await app.login("bob", "cart,checkout,vouchers,locale,flash");
    await app.login("alice", "remember");
    const page = await open(app.ui);
    await expect.poll(() => users(page)).toEqual(["alice", "bob", expect.stringContaining("no user"), "alice"]);
    expect(await page.locator(".pager").innerText()).toMatch(/1–4 of 4, newest access first\s+page 1/);
    expect(await page.locator("header").innerText()).toContain("4 active · express-session");
    expect(await rows(page).nth(1).locator(".se-attr").innerText()).toMatch(/user\s*cart\s*checkout\s*\+ 3/);
    expect(await rows(page).nth(1).locator(".life").innerText()).toMatch(/in 59 min|in 60 min|in 1 h/);

    await rows(page).first().locator("a").click();
    await side(page).getByRole("heading", { name: "alice" }).waitFor();
    expect(page.url()).toContain("#/sessions/alice");
    await expect.poll(() => side(page).locator(".se-list li").count()).toBe(2);
    expect(await side(page).locator(".chip.accent").count()).toBe(1);
    expect(await side(page).innerText()).toMatch(/2 sessions.*End all 2.*1 h after the last access.*user, remember/s);
    expect(await rows(page).nth(0).getAttribute("class")).toBe("sel");
    expect(await rows(page).nth(3).getAttribute("class")).toBe("same");
    await expectAccessible(page);

    await rows(page).nth(2).locator("a").click();
    await side(page).getByRole("heading", { name: "Session without a user" }).waitFor();
    await expect.poll(() => side(page).locator(".se-list li").count()).toBe(1);
  });

  test("ends one session, and only that one", async () => {
    const app = await application();
    const [first, second] = [await app.login("alice", "cart,checkout"), await app.login("alice")];
    const page = await open(app.ui);
    await rows(page).nth(1).getByRole("button").click();
    expect(await dialog(page).innerText()).toMatch(
      /^End session [0-9a-f]{8}… of alice\?\s+The user is logged out there at the next request, and what the session keeps \(user, cart, checkout\) is lost\. This cannot be undone\./,
    );
    expect(await page.locator(":focus").innerText()).toBe("Cancel");
    await page.keyboard.press("Enter");
    await dialog(page).waitFor({ state: "hidden" });
    expect(await isLoggedIn(first)).toBe(true);

    await rows(page).nth(1).getByRole("button").click();
    await dialog(page).getByRole("button", { name: "End session" }).click();
    await toasts(page)
      .getByText(/Session [0-9a-f]{8}… of alice ended/)
      .waitFor();
    expect([await isLoggedIn(first), await isLoggedIn(second)]).toEqual([false, true]);
    expect(await rows(page).nth(1).innerText()).toContain("ended");
    expect(await rows(page).nth(1).getByRole("button").count()).toBe(0);
    await rows(page).nth(1).locator("a:focus").waitFor();
    expect(await rows(page).count()).toBe(2);
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
  });

  test("ends all but the newest, then all, and says what it ended", async () => {
    const app = await application();
    const visitors = [await app.login("alice"), await app.login("alice"), await app.login("alice")];
    const bob = await app.login("bob");
    const page = await open(app.ui, "/alice");
    await side(page).getByRole("button", { name: "End all but the newest" }).click();
    expect(await dialog(page).innerText()).toMatch(
      /^End 2 sessions of alice and keep the newest\?\s+The user is logged out everywhere but in [0-9a-f]{8}… at the next request/,
    );
    await dialog(page).getByRole("button", { name: "End 2 sessions" }).click();
    await toasts(page).getByText("2 sessions of alice ended").waitFor();
    expect(await Promise.all(visitors.map(isLoggedIn))).toEqual([false, false, true]);
    await expect.poll(() => side(page).locator(".se-list li").count()).toBe(1);
    expect(await side(page).innerText()).toMatch(/You ended 2 sessions at \d\d:\d\d:\d\d/);
    const other = side(page).getByRole("button", { name: "End all but the newest" });
    expect(await other.getAttribute("title")).toBe("there is no other");

    await side(page).getByRole("button", { name: "End the session" }).click();
    expect(await dialog(page).innerText()).toContain("End the session of alice?");
    await dialog(page).getByRole("button", { name: "End 1 session" }).click();
    await side(page).getByRole("heading", { name: "No session of this user" }).waitFor();
    expect([await isLoggedIn(visitors[2]!), await isLoggedIn(bob)]).toEqual([false, true]);
    expect(await page.locator("tbody tr", { hasText: "ended" }).count()).toBe(3);
  });

  test("finds a user exactly, and says so if there is no session", async () => {
    const app = await application();
    await app.login("Alice");
    const page = await open(app.ui);
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.getByRole("dialog", { name: "Find" }).waitFor();
    await page.keyboard.press("/");
    await page.getByLabel("User", { exact: true }).fill("alice");
    await page.keyboard.press("Enter");
    await side(page).getByRole("heading", { name: "No session of this user" }).waitFor();
    expect(await side(page).innerText()).toContain("capital letters included");
    await page.getByLabel("User", { exact: true }).fill("Alice");
    await page.keyboard.press("Enter");
    await expect.poll(() => side(page).locator(".se-list li").count()).toBe(1);
    await page.goBack();
    await side(page).getByRole("heading", { name: "alice", exact: true }).waitFor();
  });

  test("shows active and expired ones apart, and what a store does not know", async () => {
    const store = memorySessions({ expiredRetentionMs: 3_600_000 });
    const before = Date.now() - 100_000;
    store.put({ username: "gone", maxInactiveInterval: 60, lastAccessedTime: before });
    store.put({ username: "here", maxInactiveInterval: 5_400 });
    store.put({ username: "ever", maxInactiveInterval: -1, lastAccessedTime: before });
    const page = await open(await serve({ sessions: { store, idKey: ID_KEY } }));
    await expect.poll(async () => (await users(page)).sort()).toEqual(["ever", "gone", "here"]);
    await page.getByRole("button", { name: /^Expired/ }).click();
    await expect.poll(() => users(page)).toEqual(["gone"]);
    expect(page.url()).toContain("state=expired");
    await expect.poll(() => page.getByRole("button", { name: /^Expired/ }).innerText()).toMatch(/Expired\s*1/);
    await page.getByRole("button", { name: "Active" }).click();
    await expect.poll(async () => (await users(page)).sort()).toEqual(["ever", "here"]);
    expect(await page.locator("tbody").innerText()).toContain("never");
    await page.reload();
    await expect.poll(async () => (await users(page)).sort()).toEqual(["ever", "here"]);
    await page.locator("a", { hasText: "here" }).click();
    await expect.poll(() => side(page).innerText()).toContain("90 min after the last access");
    expect(page.url()).toContain("#/sessions/here?state=active");
  });

  test("announces new sessions without moving a row, and shows what another browser ended", async () => {
    const app = await application();
    await app.login("alice");
    const pages = [await open(app.ui, "/alice"), await open(app.ui)] as const;
    for (const page of pages) await expect.poll(() => users(page)).toEqual(["alice"]);
    await app.login("bob");
    await pages[1].getByRole("button", { name: "1 new" }).waitFor();
    expect(await users(pages[1])).toEqual(["alice"]);
    await pages[1].getByRole("button", { name: "1 new" }).click();
    await expect.poll(() => users(pages[1])).toEqual(["bob", "alice"]);
    await rows(pages[1]).nth(1).getByRole("button").click();
    await dialog(pages[1]).getByRole("button", { name: "End session" }).click();
    await toasts(pages[1]).getByText("ended").waitFor();
    await expect.poll(() => side(pages[0]).locator(".se-list .chip").allInnerTexts()).toContain("gone");
    await side(pages[0]).locator(".se-list").getByRole("button").waitFor({ state: "detached" });
  });

  test("hostile names are text", async () => {
    const store = memorySessions();
    const names = ["<img src=x onerror=alert(1)>", "\u202Egnp.drawkcab", `${"x".repeat(10_000)}`, "d", "e"];
    store.put({ username: "<img src=x onerror=alert(2)>", attributeNames: names });
    store.put({ username: "\u202Egnp.drawkcab", attributeNames: ["\u0000"] });
    store.put({ username: "y".repeat(1_024) });
    for (const width of [1280, 320]) {
      const page = await open(await serve({ sessions: { store, idKey: ID_KEY } }), "", {
        viewport: { width, height: 860 },
      });
      await expect.poll(() => rows(page).count()).toBe(3);
      expect(await users(page)).toEqual(expect.arrayContaining(["<img src=x onerror=alert(2)>", "U+202Egnp.drawkcab"]));
      expect(await page.locator(".se img").count()).toBe(0);
      const isWithin = () => page.evaluate("document.documentElement.scrollWidth <= innerWidth");
      expect(await isWithin()).toBe(true);
      await page.locator("tbody a", { hasText: "<img" }).click();
      await side(page).locator(".se-list li").waitFor();
      expect(await isWithin()).toBe(true);
      await side(page).getByRole("button", { name: "End the session" }).click();
      expect(await dialog(page).innerText()).toContain("End the session of <img src=x onerror=alert(2)>?");
      expect(await isWithin()).toBe(true);
      await dialog(page).getByRole("button", { name: "Cancel" }).click();
      await page.keyboard.press("Escape");
      await page.locator("tbody a", { hasText: "yyy" }).click();
      await expect.poll(() => side(page).locator(".se-list li").count()).toBe(1);
      expect(await isWithin()).toBe(true);
      await expectAccessible(page);
    }
  });

  test("keys go through rows, open and close them", async () => {
    const app = await application();
    for (const user of ["alice", "bob", "carol"]) await app.login(user);
    const page = await open(app.ui);
    await expect.poll(() => users(page)).toEqual(["carol", "bob", "alice"]);
    const focused = () => page.locator(":focus").innerText();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    expect(await focused()).toBe("bob");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("j");
    expect(await focused()).toBe("alice");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await side(page).getByRole("heading", { name: "bob" }).waitFor();
    expect(await focused()).toBe("bob");
    await page.keyboard.press("Escape");
    await side(page).getByRole("heading", { name: "Session store" }).waitFor();
    await expect.poll(focused).toBe("bob");
  });

  test("on a phone, details are a page of their own", async () => {
    const app = await application();
    await app.login("alice");
    const page = await open(app.ui, "", { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true });
    await rows(page).first().waitFor();
    expect(await side(page).isVisible()).toBe(false);
    const button = await rows(page).first().getByRole("button").boundingBox();
    expect(Math.min(button!.height, button!.width)).toBeGreaterThanOrEqual(24);
    await rows(page).first().tap();
    await side(page).getByRole("heading", { name: "alice" }).waitFor();
    expect(await rows(page).first().isVisible()).toBe(false);
    await expectAccessible(page);
    await side(page).getByRole("button", { name: "Close" }).tap();
    await rows(page).first().waitFor();
    await page.getByRole("link", { name: "Limits of this store" }).tap();
    await side(page).getByText("List all sessions").waitFor();
  });

  describe("with access control", () => {
    async function signedIn(permissions: readonly PermissionPattern[], options: ActuatorOptions = {}) {
      const { file, tokens } = tokensFor({ alice: { permissions } });
      const app = await application({ access: { tokens: file }, ...options });
      const visitor = await app.login("bob");
      const page = await open(app.ui, "", { mayFail: true, authorization: `Bearer ${tokens.alice}` });
      return { page, visitor };
    }

    test("without sessions:list, sessions of a known user are found", async () => {
      const { page } = await signedIn(["sessions:read"]);
      await page.getByRole("heading", { name: "You may not list sessions" }).waitFor();
      expect(await page.locator("pre.cmd").innerText()).toBe(
        "npx connect-actuator token create --name alice-2 --permission sessions:read sessions:list --file tokens.json",
      );
      await page.getByLabel("User", { exact: true }).fill("bob");
      await page.keyboard.press("Enter");
      const end = side(page).getByRole("button", { name: "End the session" });
      await end.waitFor();
      expect(await end.getAttribute("title")).toBe("needs sessions:delete");
      await end.click({ force: true });
      expect(await dialog(page).count()).toBe(0);
      await expectAccessible(page);
    });

    test("without sessions:read, all are listed and those of a user are not asked for", async () => {
      const { page } = await signedIn(["sessions:list"]);
      await rows(page).first().locator("a").click();
      await side(page).getByRole("heading", { name: "You may not see a user’s sessions" }).waitFor();
      expect(await side(page).locator("pre.cmd").innerText()).toContain("--permission sessions:list sessions:read");
    });

    test("without any permission for sessions, the command for one is shown", async () => {
      const { page } = await signedIn(["loggers:*"]);
      await page.getByRole("heading", { name: "You may not see sessions" }).waitFor();
      expect(await page.locator("pre.cmd").innerText()).toContain("--permission 'loggers:*' sessions:list");
    });

    test("a service that is read only ends no session", async () => {
      const { page, visitor } = await signedIn(["sessions:*"], { readOnly: true });
      await rows(page).first().waitFor();
      await rows(page).first().getByTitle("the service is read only").waitFor();
      await rows(page).first().getByRole("button").click({ force: true });
      expect(await dialog(page).count()).toBe(0);
      expect(await isLoggedIn(visitor)).toBe(true);
    });
  });

  test("says what a store cannot do", async () => {
    const page = await open(
      await serve({ sessions: { store: cookieOnlySessions("iron-session"), idKey: ID_KEY } }),
      "",
      {
        mayFail: true,
      },
    );
    await page.getByRole("heading", { name: "Sessions are stored in the client’s cookie" }).waitFor();
    expect(await page.locator(".state p").innerText()).toContain(
      "A new secret for iron-session ends all of them at once",
    );
    expect(await side(page).innerText()).toMatch(/List all: The sessions of iron-session live in the clients' cookies/);
    await expectAccessible(page);
  });

  test("ids of the application itself are in no address, and said to be credentials", async () => {
    const app = await application({}, { ids: "raw" });
    const alice = await app.login("alice");
    const visitor = await app.visit();
    const page = await open(app.ui, "/alice");
    await side(page).getByText("they can be used to take over a session").waitFor();
    const links = await page.locator("a").all();
    const addresses = await Promise.all(links.map((link) => link.getAttribute("href")));
    expect(addresses.join()).not.toMatch(new RegExp(`${alice.id}|${visitor.id}`));
    await rows(page).first().locator(".se-a").click();
    expect(page.url()).toContain("#/sessions/alice");
  });

  test("a store that can only find a session by its user says so", async () => {
    const store = memorySessions();
    store.put({ username: "alice" });
    const limited: SessionStore = {
      kind: "limited",
      findById: (id) => store.findById(id),
      findByUsername: (username) => store.findByUsername(username),
      limits: { list: "It has no list.", delete: "Only the application ends them." },
    };
    const page = await open(await serve({ sessions: { store: limited, idKey: ID_KEY } }), "", { mayFail: true });
    await page.getByRole("heading", { name: "This store cannot list its sessions" }).waitFor();
    expect(await page.locator(".seg").count()).toBe(0);
    await page.getByLabel("User", { exact: true }).fill("alice");
    await page.keyboard.press("Enter");
    const end = side(page).getByRole("button", { name: "End the session" });
    await end.waitFor();
    expect(await end.getAttribute("title")).toBe("Only the application ends them.");
    expect(await side(page).innerText()).toMatch(/List all: It has no list\./);
  });

  test("says that there are no sessions, and what is not served", async () => {
    const empty = await open(await serve({ sessions: { store: memorySessions(), idKey: ID_KEY } }));
    await empty.getByRole("heading", { name: "No sessions yet" }).waitFor();
    const none = await open(await serve({}));
    await none.getByRole("heading", { name: "This application does not serve its sessions" }).waitFor();
  });

  describe.runIf(requirement("redis-server", redisFound))("with Redis", () => {
    async function redis(options: ConnectRedisOptions) {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const client = createClient({ url: server.url });
      client.on("error", () => undefined);
      await client.connect();
      onTestFinished(() => client.destroy());
      const store = new RedisStore({ client });
      const sessions = connectRedisSessions(store, options);
      onTestFinished(async () => sessions.detach?.());
      return { server, store, ui: await serve({ sessions: { store: sessions, idKey: ID_KEY } }) };
    }

    test("10,000 sessions are paged through without a gap or a repetition", async () => {
      // On a busy machine counting may take longer than the default bound, and the page then says no total.
      const { store, ui } = await redis({ scan: { maxMs: 30_000 } });
      const now = Date.now();
      for (let batch = 0; batch < 10; batch++) {
        const each = Array.from({ length: 1_000 }, (_, index) => {
          const at = batch * 1_000 + index;
          const expires = new Date(now + 3_600_000 + at * 10);
          const record = { cookie: { originalMaxAge: 3_600_000, expires }, user: { username: `user${at % 997}` } };
          return store.set(`id${at}`, record as never);
        });
        await Promise.all(each);
      }
      const page = await open(ui);
      await rows(page).first().waitFor();
      const seen: string[] = [];
      const idsShown = () =>
        page.evaluate<string[]>("[...document.querySelectorAll('td.se-i span')].map(({ title }) => title)");
      const older = page.getByRole("button", { name: "Older" });
      for (let number = 1; number <= 100; number++) {
        await expect.poll(() => page.locator(".pager .end").innerText()).toBe(`page ${number}`);
        seen.push(...(await idsShown()));
        if (number < 100) await older.click();
      }
      // A store that searches may not know that this page is the last one.
      if ((await older.getAttribute("aria-disabled")) !== "true") await older.click();
      await expect.poll(() => older.getAttribute("aria-disabled")).toBe("true");
      expect(seen).toHaveLength(10_000);
      expect(new Set(seen).size).toBe(10_000);
      expect(await page.locator(".pager").innerText()).toContain("9,901–10,000 of about 10,000");
      await page.getByRole("button", { name: "Newer" }).click();
      await expect.poll(() => page.locator(".pager .end").innerText()).toBe("page 99");
      expect(await idsShown()).toEqual(seen.slice(9_800, 9_900));

      await page.goto(`${ui}#/sessions/user7`);
      await expect.poll(() => side(page).locator(".side-title").innerText()).toContain("11 sessions");
      await side(page).getByRole("button", { name: "End all 11" }).click();
      await dialog(page).getByRole("button", { name: "End 11 sessions" }).click();
      await toasts(page).getByText("11 sessions of user7 ended").waitFor();
      const left = (await store.all()) as { user: { username: string } }[];
      expect([left.length, left.filter(({ user }) => user.username === "user7").length]).toEqual([9_989, 0]);
    }, 300_000);

    test("while the store is out of reach the page says so, keeps what it knew, and tries again", async () => {
      const { server, store, ui } = await redis({ timeoutMs: 1_000 });
      await store.set("id", { cookie: { originalMaxAge: 60_000 }, user: { username: "alice" } } as never);
      const shown = await open(ui, "", { mayFail: true });
      await expect.poll(() => users(shown)).toEqual(["alice"]);
      await server.kill();
      await shown.locator(".se .note", { hasText: "retries" }).waitFor();
      expect(await users(shown)).toEqual(["alice"]);
      const fresh = await open(ui, "", { mayFail: true });
      await fresh.getByRole("heading", { name: "The session store is unavailable" }).waitFor();
      await server.restart();
      for (const page of [shown, fresh]) await expect.poll(() => users(page)).toEqual(["alice"]);
      await shown.locator(".se .note").waitFor({ state: "detached" });
    }, 120_000);
  });
});
