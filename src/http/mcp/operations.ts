import { isRecord } from "../../common/record.ts";
import { TOOL_NAMES } from "../../mcp/names.ts";

/** The path below the base path. */
export const MCP_PATH = "/mcp";

/** The methods that clients call, besides tools. */
const METHODS = [
  "initialize",
  "notifications/cancelled",
  "notifications/initialized",
  "ping",
  "server/discover",
  "tools/call",
  "tools/list",
];

/** The name of what is none of the others. */
const OTHER = "mcp";

/** The names of all operations in the call log: `mcp set_level`, `mcp tools/list`. */
export const MCP_OPERATIONS: readonly string[] = [OTHER, ...[...METHODS, ...TOOL_NAMES].map((name) => `mcp ${name}`)];

/** The name of a message in the call log, one of few. */
export function operationOf(message: unknown): string {
  if (!isRecord(message)) return OTHER;
  const { method, params } = message;
  const tool = method === "tools/call" && isRecord(params) ? `mcp ${params.name}` : "";
  const names = [tool, `mcp ${method}`];
  return names.find((name) => MCP_OPERATIONS.includes(name)) ?? OTHER;
}
