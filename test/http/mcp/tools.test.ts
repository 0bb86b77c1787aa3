import { expect, onTestFinished, test } from "vitest";
import { createActuator, memorySessions } from "../../../src/index.ts";
import { TOOL_NAMES } from "../../../src/mcp/names.ts";
import { TOOLS } from "../../../src/mcp/tools.ts";
import { agentAt, call, refused, serveShop } from "../../support/mcp-client.ts";

const reason = "why is 4711 stuck";

/** One property of each element of a list. */
function each(list: unknown, key: string): unknown[] {
  return (list as Record<string, unknown>[]).map((element) => element[key]);
}

/** The names of the tools that a client is shown. */
async function toolsAt(endpoint: string, token?: string): Promise<string[]> {
  return (await (await agentAt(endpoint, token)).listTools()).tools.map(({ name }) => name);
}

test("every tool has a schema of its arguments and result, and hints that are true", async () => {
  const { endpoint, tokens } = await serveShop();
  const { tools } = await (await agentAt(endpoint, tokens.agent)).listTools();
  expect(tools.map(({ name }) => name)).toEqual([...TOOL_NAMES]);
  const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false).map(({ name }) => name);
  expect(writing).toEqual(["measure_loggers", "debug_logger", "set_level", "restore_levels"]);
  const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
  expect(destructive).toEqual(["restore_levels"]);
  for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
    expect(description, name).toMatch(/\.$/);
    expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema, name).toMatchObject({ type: "object", required: expect.arrayContaining([]) });
    expect(annotations?.openWorldHint, name).toBe(false);
  }
  for (const name of ["debug_logger", "set_level", "restore_levels"]) {
    expect(tools.find((each) => each.name === name)!.inputSchema.required, name).toContain("reason");
  }
  expect(TOOLS.every((tool) => tool.writes === tool.permissions.some((each) => each.endsWith(":write")))).toBe(true);
});

test("loggers are listed, found and shown", async () => {
  const { endpoint, tokens } = await serveShop();
  const agent = await agentAt(endpoint, tokens.agent);
  const all = await call(agent, "list_loggers");
  expect(each(all.loggers, "name")).toEqual(["shop", "ROOT", "mail", "orders", "orders.payment"]);
  expect(all.more).toBe(false);
  expect(await call(agent, "list_loggers", { filter: "PAY" })).toMatchObject({ loggers: [{ name: "orders.payment" }] });
  const first = await call(agent, "list_loggers", { limit: 1 });
  expect([each(first.loggers, "name").length, first.more]).toEqual([1, true]);
  expect(await call(agent, "get_logger", { name: "shop" })).toEqual({
    logger: { name: "shop", type: "group", members: ["orders", "mail"], mixed: false },
  });
  expect(await call(agent, "get_logger", { name: "orders" })).toEqual({
    logger: { name: "orders", type: "logger", effectiveLevel: "INFO", library: "test" },
  });
  expect(await refused(agent, "get_logger", { name: "order" })).toBe("No logger and no group has this name.");
  expect(await refused(agent, "get_logger", { nam: "order" })).toContain("must have required property 'name'");
});

test("a level is set for a time, told in the history, and restored", async () => {
  const { endpoint, tokens, audited, library } = await serveShop();
  const agent = await agentAt(endpoint, tokens.agent);
  const asked = { name: "orders", level: "DEBUG", ttl_seconds: 60, reason };
  const { ttl_seconds: _, ...endless } = asked;
  expect(await refused(agent, "set_level", endless)).toContain("ttl_seconds");
  expect(await refused(agent, "set_level", { ...asked, ttl_seconds: 3_601 })).toContain("<= 3600");
  expect(await call(agent, "set_level", asked)).toMatchObject({
    logger: { configuredLevel: "DEBUG", setBy: "agent", reason: `MCP: ${reason}`, until: expect.any(String) },
    notices: [],
  });
  expect(library.levelOf("orders.payment")).toBe("DEBUG");
  expect(await call(agent, "set_level", { ...asked, name: "order" })).toMatchObject({
    notices: [expect.stringContaining("did you mean orders?")],
  });
  const { changes } = await call(agent, "level_history", { name: "orders" });
  expect(changes).toMatchObject([{ name: "orders", what: "SET", level: "DEBUG", reason: `MCP: ${reason}` }]);
  expect(await refused(agent, "restore_levels", { reason })).toBe("Give either name, or all: true.");
  expect(await call(agent, "restore_levels", { name: "orders", reason })).toMatchObject({ logger: { name: "orders" } });
  expect(await call(agent, "restore_levels", { all: true, reason })).toMatchObject({ restored: 1 });
  expect(library.levelOf("orders.payment")).toBe("INFO");
  expect(audited.map(({ operation, protocol, result, target }) => [operation, protocol, result, target])).toEqual([
    ["mcp set_level", "mcp", "OK", { logger: "orders", level: "DEBUG" }],
    ["mcp set_level", "mcp", "OK", { logger: "order", level: "DEBUG" }],
    ["mcp restore_levels", "mcp", "OK", { logger: "orders" }],
    ["mcp restore_levels", "mcp", "OK", undefined],
  ]);
});

test("sessions are named by handles, never by their ids", async () => {
  const { endpoint, tokens, actuator, audited } = await serveShop();
  const [shown] = (await actuator.sessions!.findByUsername("ada")).sessions;
  const found = await call(await agentAt(endpoint, tokens.agent), "find_sessions", { username: "ada" });
  expect(found).toMatchObject({ sessions: [{ handle: expect.stringMatching(/^[0-9a-f]{12}$/), expired: false }] });
  expect(JSON.stringify(found)).not.toContain(shown!.id);
  expect(audited).toMatchObject([{ operation: "mcp find_sessions", target: { username: "ada" }, result: "OK" }]);
});

test("the graph is shown around a component", async () => {
  const { endpoint, tokens } = await serveShop();
  const agent = await agentAt(endpoint, tokens.agent);
  const { components, links } = await call(agent, "integration_graph", { focus: "CHECK" });
  expect(each(components, "name")).toEqual(["check-paid", "orders-in", "orders-paid"]);
  expect(each(links, "type").sort()).toEqual(["input", "output"]);
  expect(await call(agent, "integration_graph", { focus: "check", depth: 0 })).toMatchObject({
    links: [],
    more: false,
  });
  expect((await call(agent, "integration_graph", { limit: 2 })).more).toBe(true);
});

test("calls are counted, with progress if the client asks for it", async () => {
  const { endpoint, tokens } = await serveShop();
  const agent = await agentAt(endpoint, tokens.agent);
  const progress: number[] = [];
  const args = { name: "measure_loggers", arguments: { seconds: 1 } };
  const { structuredContent } = await agent.callTool(args, { onprogress: ({ progress: done }) => progress.push(done) });
  // The library of the test counts nothing.
  expect(structuredContent).toMatchObject({ loggers: [], more: false, unmeasuredLibraries: ["test"] });
  expect(progress.length).toBeGreaterThan(0);
});

test("a caller is shown the tools that its permissions allow, and refused the others", async () => {
  const { endpoint, tokens, audited } = await serveShop();
  expect(await toolsAt(endpoint, tokens.reader)).toEqual(["list_loggers", "get_logger", "level_history"]);
  const reader = await agentAt(endpoint, tokens.reader);
  const refusal = "The caller lacks the permission loggers:write.";
  expect(await refused(reader, "set_level", { name: "orders", level: "OFF", ttl_seconds: 1, reason })).toBe(refusal);
  expect(await refused(reader, "debug_logger", { name: "orders", reason })).toContain("logs:read");
  expect(audited).toMatchObject([
    { operation: "mcp set_level", who: "reader", result: "PERMISSION_DENIED", reason: "PERMISSION_MISSING" },
    { operation: "mcp debug_logger", who: "reader", result: "PERMISSION_DENIED", reason: "PERMISSION_MISSING" },
  ]);
  await expect(agentAt(endpoint, tokens.deleter)).rejects.toThrow();
});

test("a caller reaches only its own loggers", async () => {
  const { endpoint, tokens } = await serveShop();
  const mailer = await agentAt(endpoint, tokens.mailer);
  expect((await call(mailer, "list_loggers")).loggers).toMatchObject([{ name: "mail" }]);
  const outside = "The caller may see and change only loggers at and below mail.";
  expect(await refused(mailer, "get_logger", { name: "orders" })).toBe(outside);
  expect(await refused(mailer, "debug_logger", { name: "orders", reason })).toBe(outside);
  expect(await refused(mailer, "debug_logger", { name: "ROOT", reason })).toBe(outside);
  expect(await refused(mailer, "restore_levels", { all: true, reason })).toBe(outside);
});

test("a read-only actuator has no tools that write", async () => {
  const { endpoint, tokens } = await serveShop({ readOnly: true });
  const reading = ["list_loggers", "get_logger", "level_history", "integration_graph", "find_sessions"];
  expect(await toolsAt(endpoint, tokens.agent)).toEqual(reading);
  const agent = await agentAt(endpoint, tokens.agent);
  expect(await refused(agent, "restore_levels", { all: true, reason })).toBe("This actuator is read-only.");
});

test("writes are limited", async () => {
  const { endpoint, library } = await serveShop({
    access: {
      authorize: () => ({ name: "agent", permissions: ["*"] }),
      limits: { maxWritesPerMinute: 1 },
    },
  });
  const agent = await agentAt(endpoint);
  await call(agent, "set_level", { name: "orders", level: "DEBUG", ttl_seconds: 9, reason });
  expect(await refused(agent, "restore_levels", { all: true, reason })).toMatch(/^Too many changes/);
  expect(library.levelOf("orders")).toBe("DEBUG");
});

test("what is not served has no tools, nor what the application leaves out", async () => {
  const { endpoint, tokens } = await serveShop({ loggers: undefined, integrationGraph: undefined });
  expect(await toolsAt(endpoint, tokens.agent)).toEqual(["find_sessions"]);
  const few = await serveShop({ mcp: { tools: ["get_logger", "set_level"] } });
  expect(await toolsAt(few.endpoint, few.tokens.reader)).toEqual(["get_logger"]);
});

test("an unexpected error is reported, and its text not shown", async () => {
  const sessions = memorySessions();
  Object.assign(sessions, { findByUsername: () => Promise.reject(new Error("secret of the store")) });
  const { endpoint, tokens, errors } = await serveShop({ sessions: { store: sessions, idKey: "0123456789abcdef" } });
  const agent = await agentAt(endpoint, tokens.agent);
  expect(await refused(agent, "find_sessions", { username: "ada" })).toBe("The tool failed for an internal reason.");
  expect(errors).toEqual([new Error("secret of the store")]);
});

test("the index names the path only if it is served", async () => {
  const links = async (mcp: boolean) => {
    const actuator = createActuator({ mcp, audit: false });
    onTestFinished(() => actuator.close({ deadlineMs: 0 }));
    const { url } = await actuator.listen({ port: 0 });
    const found = await fetch(`${url}/actuator/mcp`, { method: "POST", body: "{}" });
    const index = (await (await fetch(`${url}/actuator`)).json()) as { _links: object };
    return [Object.keys(index._links), found.status];
  };
  expect(await links(true)).toEqual([["self", "health", "info", "mcp"], 415]);
  expect(await links(false)).toEqual([["self", "health", "info"], 404]);
});
