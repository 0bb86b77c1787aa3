import { type Checks, listOf, oneOf } from "../../common/options.ts";
import { TOOL_NAMES, type ToolName } from "../../mcp/names.ts";

/** How AI agents are served over MCP. */
export interface McpOptions {
  /** The tools that agents get, such as `["list_loggers", "get_logger"]`. Default: all that the caller has permissions for. */
  readonly tools?: readonly ToolName[] | undefined;
}

/** The checks of {@link McpOptions}. */
export const MCP: Checks<McpOptions> = { tools: listOf(oneOf(...TOOL_NAMES)) };
