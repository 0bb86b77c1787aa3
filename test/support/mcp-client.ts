import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished } from "vitest";
import type { PermissionPattern } from "../../src/access/permission.ts";
import { type ActuatorOptions, createActuator, integrationGraph, memorySessions } from "../../src/index.ts";
import type { AuditRecord } from "../../src/operations/audit/audit-record.ts";
import { WrittenLibrary } from "../logs/written-library.ts";
import { tokensFor } from "./tokens.ts";

/** What the agent of a test may do. */
const ALL: readonly PermissionPattern[] = ["*", "logs:read"];

/** Serves a shop with three loggers, a user's session and a graph to agents. */
export async function serveShop(options: Partial<ActuatorOptions> = {}) {
  const library = new WrittenLibrary(["orders", "orders.payment", "mail"]);
  const audited: AuditRecord[] = [];
  const errors: unknown[] = [];
  const { file, tokens } = tokensFor({
    agent: { permissions: ALL },
    reader: { permissions: ["loggers:read"] },
    deleter: { permissions: ["sessions:delete"] },
    mailer: { permissions: ALL, loggers: ["mail"] },
  });
  const sessions = memorySessions();
  sessions.put({ username: "ada", attributeNames: ["cart"] });
  const graph = integrationGraph({ app: "shop" });
  graph.filter("check-paid", { input: "orders-in", output: "orders-paid" });
  graph.serviceActivator("mailer", { input: "mails-in" });
  const actuator = createActuator({
    name: "shop",
    mcp: true,
    access: { tokens: file },
    loggers: { adapters: [library], groups: { shop: ["orders", "mail"] }, logLevelChanges: false },
    sessions: { store: sessions, idKey: "0123456789abcdef" },
    integrationGraph: graph,
    audit: (record) => audited.push(record),
    onError: (error) => errors.push(error),
    ...options,
  });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url } = await actuator.listen({ port: 0 });
  return { actuator, library, audited, errors, tokens, url, endpoint: `${url}/actuator/mcp` };
}

/** How a client connects: as since 2026, or as before. */
export const ERAS = ["auto", "legacy"] as const;

/** Connects the official client, until the test ends. */
export async function agentAt(
  endpoint: string,
  token?: string,
  mode: (typeof ERAS)[number] = "legacy",
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

/** Calls a tool that succeeds, and returns its result. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  expect(isError ?? false, JSON.stringify(content)).toBe(false);
  expect(JSON.parse(textOf(content))).toEqual(structuredContent);
  return structuredContent as Record<string, unknown>;
}

/** Calls a tool that fails, and returns its message. */
export async function refused(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  expect(isError).toBe(true);
  return textOf(content);
}

function textOf(content: readonly object[]): string {
  return (content[0] as { readonly text: string }).text;
}
