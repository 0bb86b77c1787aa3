// @module-tag slow
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { call, refused, serveShop } from "../../support/mcp-client.ts";
import { requirement } from "../../support/requirement.ts";
import { until } from "../../support/until.ts";

const folder = process.env.CONNECT_ACTUATOR_TEST_MCP;
const reason = "why is 4711 stuck";

/** Connects a client of an earlier SDK, whose methods that are used here are the same. */
async function olderClient(name: string, endpoint: string, token: string): Promise<Client> {
  const require = createRequire(join(folder!, "package.json"));
  const { Client } = require(`${name}/client/index.js`);
  const { StreamableHTTPClientTransport } = require(`${name}/client/streamableHttp.js`);
  const client = new Client({ name: "old", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** Why scenarios of the suite fail: they call what a server made for the suite has. */
const EXPECTED_FAILURES: Readonly<Record<string, RegExp>> = {
  "wants tools of its own": /^(tools-call-|elicitation-)/,
  "wants resources": /^resources-/,
  "wants prompts, or completes their arguments": /^(prompts-|completion-complete$)/,
  "wants log messages of the server, which are none of the application's": /^logging-set-level$/,
};

describe.runIf(requirement("other implementations of MCP (CONNECT_ACTUATOR_TEST_MCP)", folder !== undefined))(
  "other implementations",
  () => {
    describe.each(["mcp-sdk-1.15", "mcp-sdk-1.32"])("a client of %s", (name) => {
      test("calls tools", async () => {
        const { endpoint, tokens, library } = await serveShop();
        const client = await olderClient(name, endpoint, tokens.agent);
        expect((await client.listTools()).tools).toHaveLength(9);
        expect(await call(client, "get_logger", { name: "mail" })).toMatchObject({ logger: { name: "mail" } });
        await call(client, "set_level", { name: "mail", level: "DEBUG", ttl_seconds: 9, reason });
        expect(library.levelOf("mail")).toBe("DEBUG");
        expect(await refused(client, "get_logger", { name: "none" })).toBe("No logger and no group has this name.");
      });

      test("puts the level back when it cancels", async () => {
        const { endpoint, tokens, library } = await serveShop();
        const client = await olderClient(name, endpoint, tokens.agent);
        const cancelled = new AbortController();
        const args = { name: "debug_logger", arguments: { name: "orders", seconds: 60, reason } };
        const options = { signal: cancelled.signal };
        const result = (client.callTool as (...args: unknown[]) => Promise<unknown>)(args, undefined, options);
        result.catch(() => undefined);
        await until(() => library.levelOf("orders") === "DEBUG");
        cancelled.abort();
        await until(() => library.levelOf("orders") === "INFO");
        await expect(result).rejects.toThrow();
      });
    });

    test("the conformance suite of the protocol passes but for what it wants of a server of its own", async () => {
      const { endpoint } = await serveShop({ access: { anonymous: ["*", "logs:read"] }, audit: false });
      const suite = join(folder!, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
      const run = promisify(execFile)(process.execPath, [suite, "server", "--url", endpoint], { cwd: folder! });
      const { stdout } = await run.catch((error: { stdout: string }) => error);
      const outcomes = Array.from(stdout.matchAll(/^([✓✗]) ([\w-]+): \d+ passed, \d+ failed$/gmu));
      const failed = outcomes.flatMap(([, mark, scenario]) => (mark === "✗" ? [scenario!] : []));
      const passed = outcomes.flatMap(([, mark, scenario]) => (mark === "✓" ? [scenario!] : []));
      expect(passed).toEqual([
        ...["server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"],
      ]);
      const isExpected = (scenario: string) => Object.values(EXPECTED_FAILURES).some((each) => each.test(scenario));
      expect(failed.filter((scenario) => !isExpected(scenario))).toEqual([]);
    });
  },
);
