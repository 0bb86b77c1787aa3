// @module-tag slow
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { applicationFolder, runApplication } from "../support/auto-application.ts";
import { call, ERAS, refused, serveShop } from "../support/mcp-client.ts";
import { until } from "../support/until.ts";
import { cli, cliEnv, MAIN, without } from "./cli-process.ts";

const SHOP = `
import { pino } from "pino";
const orders = pino().child({ name: "orders" });
setInterval(() => orders.debug({ password: "x", order: 4711 }, "card declined"), 50);
`;

const reason = "why is 4711 stuck";

/** Starts the command as an editor does. */
async function editor(args: readonly string[], env: NodeJS.ProcessEnv = {}, mode: (typeof ERAS)[number] = "legacy") {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...args],
    env: cliEnv(env) as Record<string, string>,
    stderr: "pipe",
  });
  const client = new Client({ name: "editor", version: "1" }, { versionNegotiation: { mode } });
  const faults: Error[] = [];
  client.onerror = (error) => faults.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport, faults };
}

/** An editor whose agent reads what a logger writes for a minute. */
async function debugging() {
  const shop = await serveShop();
  const { client, transport, faults } = await editor(["--url", shop.url], { ACTUATOR_TOKEN: shop.tokens.agent });
  const result = client.callTool(
    { name: "debug_logger", arguments: { name: "orders", seconds: 60, limit: 1, reason } },
    { timeout: 70_000 },
  );
  result.catch(() => undefined);
  await until(() => shop.library.levelOf("orders") === "DEBUG");
  return { ...shop, client, transport, faults, result };
}

test.each(ERAS)("an editor gets the tools of an application that serves no agents itself (%s)", async (era) => {
  const { url, tokens } = await serveShop({ mcp: false });
  const { client, faults } = await editor(["--url", url], { ACTUATOR_TOKEN: tokens.agent }, era);
  expect((await client.listTools()).tools).toHaveLength(9);
  expect(await call(client, "get_logger", { name: "mail" })).toMatchObject({ logger: { effectiveLevel: "INFO" } });
  expect(await call(client, "find_sessions", { username: "ada" })).toMatchObject({ sessions: [{ expired: false }] });
  expect((await call(client, "integration_graph", { focus: "mailer" })).components).toHaveLength(2);
  expect(await call(client, "measure_loggers", { seconds: 1 })).toMatchObject({ unmeasuredLibraries: ["test"] });
  expect(await refused(client, "get_logger", { name: "none" })).toContain("No logger and no group has this name.");
  expect(faults).toEqual([]);
});

test("what a logger writes is read, and the level put back", async () => {
  const { library, result } = await debugging();
  library.write("orders", "DEBUG", "card declined");
  expect((await result).structuredContent).toMatchObject({ ended: "LIMIT", records: [{ message: "card declined" }] });
  await until(() => library.levelOf("orders") === "INFO");
});

test.each(["SIGTERM", "SIGKILL"] as const)("after %s the level is put back", async (signal) => {
  const { library, transport } = await debugging();
  process.kill(transport.pid!, signal);
  await until(() => library.levelOf("orders") === "INFO");
});

test("at the end of standard input the level is put back, and the command ends", async () => {
  const { library, client, transport } = await debugging();
  const { pid } = transport;
  await client.close();
  await until(() => library.levelOf("orders") === "INFO");
  expect(() => process.kill(pid!, 0)).toThrow("ESRCH");
});

test("a cancelled call puts the level back", async () => {
  const { url, tokens, library } = await serveShop();
  const { client } = await editor(["--url", url, "--token", tokens.agent]);
  const cancelled = new AbortController();
  const args = { name: "debug_logger", arguments: { name: "orders", seconds: 60, reason } };
  const result = client.callTool(args, { signal: cancelled.signal });
  result.catch(() => undefined);
  await until(() => library.levelOf("orders") === "DEBUG");
  cancelled.abort();
  await until(() => library.levelOf("orders") === "INFO");
  await expect(result).rejects.toThrow();
});

test("--read-only leaves out the tools that write", async () => {
  const { client } = await editor(["--read-only", "--url", "http://127.0.0.1:1"]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...["list_loggers", "get_logger", "level_history", "integration_graph", "find_sessions"],
  ]);
  expect(await refused(client, "list_loggers")).toMatch(/^nothing listens at http:\/\/127\.0\.0\.1:1: start the app/);
});

test("a token without permissions is refused with the reason", async () => {
  const { url, tokens } = await serveShop();
  const { client } = await editor(["--url", url], { ACTUATOR_TOKEN: tokens.reader });
  const refusal = await refused(client, "set_level", { name: "orders", level: "OFF", ttl_seconds: 1, reason });
  expect(refusal).toContain("The caller lacks the permission loggers:write.");
});

test("without the package of the protocol the command says what to install", async () => {
  const { code, stdout, stderr } = await cli(["mcp"], { env: without("@modelcontextprotocol/server") });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(
    "connect-actuator: MCP needs a package that is not installed: npm install @modelcontextprotocol/server, and start again\n",
  );
});

test("a process without a line of code is found by its name, also after it was restarted", async () => {
  const folder = applicationFolder({ "shop.mjs": SHOP, "package.json": JSON.stringify({ name: "shop" }) });
  const { CONNECT_ACTUATOR_RUNTIME_DIR } = folder.env;
  const start = async () => {
    const shop = runApplication(folder, "shop.mjs", { env: { ACTUATOR_ACCESS_ANONYMOUS: "*,logs:read" } });
    await shop.describe();
    return shop;
  };
  const { client } = await editor(["--name", "shop"], { CONNECT_ACTUATOR_RUNTIME_DIR });
  expect(await refused(client, "list_loggers")).toMatch(/^no process is named shop/);
  for (const _ of [1, 2]) {
    const shop = await start();
    expect(await call(client, "debug_logger", { name: "orders", seconds: 5, limit: 2, reason })).toMatchObject({
      ended: "LIMIT",
      records: [
        { logger: "orders", level: "DEBUG", message: "card declined", fields: { password: "[redacted]", order: 4711 } },
        { message: "card declined" },
      ],
    });
    await until(async () => (await shop.get("/loggers/orders")).effectiveLevel === "INFO");
    shop.child.kill();
    await shop.exit();
  }
});
