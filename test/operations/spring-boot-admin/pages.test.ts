// @module-tag slow
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Logger, pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createToken } from "../../../src/access/token.ts";
import { pinoLoggers } from "../../../src/adapters/loggers/pino/index.ts";
import { type ActuatorOptions, createActuator, memorySessions } from "../../../src/index.ts";
import type { SpringBootAdminOptions } from "../../../src/operations/spring-boot-admin/options.ts";
import { registerWithSpringBootAdmin } from "../../../src/operations/spring-boot-admin/registration.ts";
import { requirement } from "../../support/requirement.ts";
import { ServerFolder } from "../../support/server-process.ts";
import {
  type SpringBootAdminServer,
  springBootAdminFound,
  springBootAdminJar,
  startSpringBootAdmin,
} from "../../support/spring-boot-admin-server.ts";
import { type AdminPages, chromiumFound, openAdminPages } from "./admin-pages.ts";

const possible =
  requirement("Maven with a JDK", springBootAdminFound) && requirement("/usr/bin/chromium", chromiumFound);

/** What the server and its pages may take to notice something. */
const soon = { timeout: 40_000, interval: 100 };

describe.runIf(possible)("the pages of the real Spring Boot Admin", { timeout: 150_000 }, () => {
  let admin: SpringBootAdminServer;
  let pages: AdminPages;

  beforeAll(async () => {
    await springBootAdminJar();
    admin = await startSpringBootAdmin();
    pages = await openAdminPages(admin.url);
  }, 300_000);
  afterAll(async () => {
    await pages?.[Symbol.asyncDispose]();
    await admin?.stop();
  });
  beforeEach(async () => {
    // What the page of the test before still wanted of its application is no fault.
    await pages.page.goto("about:blank");
    pages.faults.length = 0;
  });
  afterEach(() => expect(pages.faults).toEqual([]));

  /** An application, registered until the test ends, with what the server calls its instance. */
  async function shop(
    name: string,
    options: Partial<ActuatorOptions> = {},
    more: Partial<SpringBootAdminOptions> = {},
  ) {
    const said: unknown[] = [];
    const logger = pino({ level: "info" }, { write: () => {} });
    const sessions = memorySessions();
    const actuator = createActuator({
      name,
      version: "1.2.3",
      health: { checks: { stock: () => true } },
      loggers: {
        adapters: [pinoLoggers(logger)],
        groups: { money: ["shop.orders", "shop.payment"] },
        logLevelChanges: false,
      },
      sessions: { store: sessions, idKey: "sixteen or more letters" },
      admin: { url: admin.url, timeoutMs: 15_000, deregisterTimeoutMs: 15_000, ...more },
      audit: false,
      onError: (error) => said.push(error),
      ...options,
    });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const child = (of: string): Logger => logger.child({ logger: of }) as Logger;
    const native = { orders: child("shop.orders"), payment: child("shop.payment"), web: child("shop.web") };
    const { url } = await actuator.listen({ port: 0 });
    const instance = () => instanceAt(url);
    await expect.poll(async () => (await instance())?.endpoints.length, soon).toBeGreaterThan(1);
    const { id } = (await instance())!;
    expect(said).toEqual([]);
    return { actuator, sessions, native, instance, id, url };
  }

  /** The same in a process of its own, which ends at the latest with the test. */
  async function shopProcess(name: string) {
    const folder = new ServerFolder("shop");
    onTestFinished(() => folder.remove());
    const args = [join(import.meta.dirname, "shop-process.ts"), admin.url, name];
    const launch = { command: process.execPath, args, ready: /listening on (\S+)/ };
    const { process: child, match } = await folder.run(launch);
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
    const level = async () => {
      child.stdin!.write("\n");
      return (await lines.next()).value?.replace("level ", "");
    };
    await expect.poll(async () => (await instanceAt(match[1]!))?.endpoints.length, soon).toBeGreaterThan(1);
    return { level, child, instance: () => instanceAt(match[1]!) };
  }

  async function instanceAt(address: string) {
    const response = await fetch(`${admin.url}/instances`, { headers: { accept: "application/json" } });
    const instances = (await response.json()) as Instance[];
    return instances.find(({ registration }) => registration.healthUrl === `${address}/actuator/health`);
  }

  const levels = (name: string) => () => pages.logger(name).levels();

  test("Applications and Wallboard show it as UP, with its version", async () => {
    await shop("up-shop");
    await pages.open("/applications");
    await expect.poll(() => pages.text(), soon).toMatch(/UP\s+up-shop\s+1 instance\s+1\.2\.3/);
    await pages.open("/wallboard");
    await expect.poll(() => pages.text(), soon).toMatch(/up-shop\s+1 instance\s+1\.2\.3/);
    expect(await pages.page.locator(".hex.up", { hasText: "up-shop" }).count()).toBe(1);
  });

  test("Details show the info, the metadata and the health with its components", async () => {
    const { id } = await shop("detailed-shop", {}, { metadata: { "tags.environment": "test" } });
    await pages.open(`/instances/${id}/details`);
    await expect
      .poll(() => pages.text(), soon)
      .toMatch(/Info[\s\S]*name\s+detailed-shop\s+version\s+1\.2\.3\s+uptime\s+\d/);
    const text = await pages.text();
    expect(text).toMatch(/startup\s+20\d\d-\d\d-\d\dT[\d:.]+Z/);
    expect(text).toMatch(/environment\s+test/);
    for (const part of ["drain", "sessions", "stock"]) expect(text).toMatch(new RegExp(`${part}\\s+UP`, "i"));
  });

  test("Loggers lists, sets, unsets and makes loggers, and sets those of a group at once", async () => {
    const { id, native, actuator } = await shop("logging-shop");
    await pages.open(`/instances/${id}/loggers`);
    await expect.poll(levels("shop.orders"), soon).toEqual(["INFO*"]);
    expect(await levels("ROOT")()).toEqual(["INFO"]);

    await pages.logger("shop.orders").press("DEBUG");
    await expect.poll(levels("shop.orders"), soon).toEqual(["DEBUG"]);
    expect([native.orders.level, native.payment.level]).toEqual(["debug", "info"]);

    await pages.logger("shop.orders").press("Unset");
    await expect.poll(levels("shop.orders"), soon).toEqual(["INFO*"]);
    expect(native.orders.level).toBe("info");

    await pages.logger("money").press("TRACE");
    await expect.poll(levels("shop.payment"), soon).toEqual(["TRACE"]);
    expect(await levels("money")()).toEqual(["TRACE"]);
    expect([native.orders.level, native.payment.level, native.web.level]).toEqual(["trace", "trace", "info"]);
    await pages.logger("money").press("Unset");
    await expect.poll(levels("shop.payment"), soon).toEqual(["INFO*"]);
    expect(native.payment.level).toBe("info");

    await pages.page.locator("input[name=filter]").fill("shop.mail");
    await pages.logger("shop.mail").press("ERROR");
    await expect.poll(() => actuator.loggers!.get("shop.mail")?.configuredLevel, soon).toBe("ERROR");
  });

  test("Loggers of an application change in all of its instances, or in one", async () => {
    const first = await shop("big-shop");
    const second = await shopProcess("big-shop");
    const reality = async () => [first.native.web.level, await second.level()];
    await pages.open(`/instances/${first.id}/loggers`);
    await expect.poll(() => pages.page.getByTitle("Affects all 2 instances").count(), soon).toBe(1);
    await expect.poll(levels("shop.web"), soon).toEqual(["INFO*"]);

    await pages.logger("shop.web").press("WARN");
    await expect.poll(levels("shop.web"), soon).toEqual(["WARN"]);
    expect(await reality()).toEqual(["warn", "warn"]);

    await pages.logger("shop.web").press("Unset");
    await expect.poll(levels("shop.web"), soon).toEqual(["INFO*"]);
    expect(await reality()).toEqual(["info", "info"]);

    await pages.page.getByTitle("Affects all 2 instances").click();
    await expect.poll(levels("money"), soon).toEqual([]);
    await expect.poll(levels("shop.web"), soon).toEqual(["INFO*"]);
    await pages.logger("shop.web").press("DEBUG");
    await expect.poll(levels("shop.web"), soon).toEqual(["DEBUG"]);
    expect(await reality()).toEqual(["debug", "info"]);
  });

  test("Sessions finds by user and by id, and deletes one or all of a user", async () => {
    const { id, sessions, actuator } = await shop("session-shop");
    for (const username of ["ada", "ada", "ada", "bob"]) sessions.put({ username, attributeNames: ["cart"] });
    const idsOf = async (username: string) =>
      (await actuator.sessions!.findByUsername(username)).sessions.map(({ id }) => id);
    const [first, ...others] = (await idsOf("ada")) as [string, ...string[]];
    const [bobs] = await idsOf("bob");

    const search = pages.page.locator("input[name=filter]");
    await pages.open(`/instances/${id}/sessions`);
    await search.fill("nobody");
    await expect.poll(() => pages.text(), soon).toContain("No Sessions found");
    await search.fill("ada");
    await expect.poll(() => pages.sessionIds(), soon).toHaveLength(3);
    expect(new Set(await pages.sessionIds())).toEqual(new Set([first, ...others]));
    expect(await pages.text()).toMatch(/1800s\s+cart/);

    await pages.page.locator("tr", { hasText: first }).getByText("Delete").click();
    await expect.poll(() => pages.sessionIds(), soon).toHaveLength(2);
    expect(new Set(await idsOf("ada"))).toEqual(new Set(others));

    await pages.page.locator("select").first().selectOption("sessionId");
    await search.fill(bobs!);
    await expect.poll(() => pages.sessionIds(), soon).toEqual([bobs]);
    await search.fill(first);
    await expect.poll(() => pages.text(), soon).toContain("No Sessions found");

    await pages.page.locator("select").first().selectOption("username");
    await search.fill("ada");
    await expect.poll(() => pages.sessionIds(), soon).toHaveLength(2);
    await pages.page.locator("thead").getByText("Delete").click();
    await pages.page.locator("thead").getByText("Confirm").click();
    await expect.poll(() => idsOf("ada"), soon).toEqual([]);
    await expect.poll(() => pages.sessionIds(), soon).toEqual([]);
    expect(await idsOf("bob")).toEqual([bobs]);
  });

  test("pages at another name, over plain HTTP, change as much if cors allows them: the server passes their origin on", async () => {
    const elsewhere = `http://admin.test:${admin.port}`;
    const { id, native, actuator, sessions } = await shop("far-shop", { cors: { origins: [elsewhere] } });
    await pages.open(`/instances/${id}/loggers`, elsewhere);
    await expect.poll(levels("shop.web"), soon).toEqual(["INFO*"]);
    await pages.logger("shop.web").press("DEBUG");
    await expect.poll(levels("shop.web"), soon).toEqual(["DEBUG"]);
    expect(native.web.level).toBe("debug");

    sessions.put({ username: "ada" });
    await pages.open(`/instances/${id}/sessions`, elsewhere);
    await pages.page.locator("input[name=filter]").fill("ada");
    await expect.poll(() => pages.sessionIds(), soon).toHaveLength(1);
    await pages.page
      .locator("table.sessions tr", { has: pages.page.locator("a") })
      .getByText("Delete")
      .click();
    await expect.poll(async () => (await actuator.sessions!.findByUsername("ada")).sessions, soon).toEqual([]);
  });

  test("a drain is OUT_OF_SERVICE to a server that still gets through", async () => {
    // A port of the actuator's own takes no new connections then; one of the application's goes on.
    const actuator = createActuator({
      access: "loopback",
      name: "draining-shop",
      health: { checks: { stock: () => true } },
    });
    const server = createServer(actuator.handler).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close().closeAllConnections());
    await once(server, "listening");
    const { port, address } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const registration = registerWithSpringBootAdmin(
      { url: admin.url, timeoutMs: 15_000, deregisterTimeoutMs: 15_000 },
      { name: "draining-shop", startTime: Date.now() },
      { address: { port, address, url }, basePath: "/actuator" },
      (error) => expect.unreachable(error.message),
    );
    onTestFinished(() => registration.close());
    await expect.poll(async () => (await instanceAt(url))?.endpoints.length, soon).toBeGreaterThan(1);

    await pages.open(`/instances/${(await instanceAt(url))!.id}/details`);
    await expect.poll(() => pages.text(), soon).toMatch(/Instance\s+UP/);
    await actuator.close();
    await expect.poll(() => pages.text(), soon).toMatch(/Instance\s+OUT_OF_SERVICE/);
    await registration.close();
    expect(await instanceAt(url)).toBeUndefined();
  });

  test("SIGTERM takes an instance away at once", async () => {
    const { child, instance } = await shopProcess("ending-shop");
    await pages.open("/applications");
    await expect.poll(() => pages.text(), soon).toContain("ending-shop");
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(child.exitCode).toBe(0);
    expect(await instance()).toBeUndefined();
    await expect.poll(() => pages.text(), soon).not.toContain("ending-shop");
  });

  test("with a token as its password, which no page shows, all of it works where callers are asked who they are", async () => {
    const { token, id: tokenId, hash } = createToken();
    const folder = mkdtempSync(join(tmpdir(), "connect-actuator-tokens-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const tokens = join(folder, "tokens.json");
    const entry = { name: "spring-boot-admin", id: tokenId, hash, permissions: ["*"] };
    writeFileSync(tokens, JSON.stringify({ version: 1, tokens: [entry] }), { mode: 0o600 });
    const credentials = { username: "actuator", password: token };
    const { id, url, native, actuator, sessions } = await shop("guarded-shop", { access: { tokens } }, { credentials });
    expect((await fetch(`${url}/actuator/loggers`)).status).toBe(401);

    await pages.open(`/instances/${id}/loggers`);
    await expect.poll(levels("shop.web"), soon).toEqual(["INFO*"]);
    await pages.logger("shop.web").press("DEBUG");
    await expect.poll(levels("shop.web"), soon).toEqual(["DEBUG"]);
    expect(native.web.level).toBe("debug");
    expect(actuator.loggers!.get("shop.web")?.override?.actor).toBe("spring-boot-admin");

    sessions.put({ username: "ada" });
    await pages.open(`/instances/${id}/sessions`);
    await pages.page.locator("input[name=filter]").fill("ada");
    await expect.poll(() => pages.sessionIds(), soon).toHaveLength(1);
    await pages.page.locator("tbody, table").last().getByText("Delete").last().click();
    await expect.poll(async () => (await actuator.sessions!.findByUsername("ada")).sessions, soon).toEqual([]);

    await pages.open(`/instances/${id}/details`);
    await expect.poll(() => pages.text(), soon).toMatch(/user\.password\s+\*+/);
    expect(await pages.page.content()).not.toContain(token);
  });
});

/** As the server describes one. */
interface Instance {
  readonly id: string;
  readonly endpoints: readonly { readonly id: string }[];
  readonly registration: { readonly healthUrl: string };
}
