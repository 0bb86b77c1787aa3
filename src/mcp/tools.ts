import { DEBUG_LOGGER } from "./debug-logger.ts";
import { INTEGRATION_GRAPH } from "./graph-tool.ts";
import { LOGGER_TOOLS } from "./loggers-tools.ts";
import type { ToolName } from "./names.ts";
import { FIND_SESSIONS } from "./sessions-tool.ts";
import type { Tool } from "./tool.ts";

const BY_NAME: Readonly<Record<ToolName, Tool>> = {
  list_loggers: LOGGER_TOOLS.list,
  get_logger: LOGGER_TOOLS.get,
  measure_loggers: LOGGER_TOOLS.measure,
  level_history: LOGGER_TOOLS.history,
  integration_graph: INTEGRATION_GRAPH,
  find_sessions: FIND_SESSIONS,
  debug_logger: DEBUG_LOGGER,
  set_level: LOGGER_TOOLS.set,
  restore_levels: LOGGER_TOOLS.restore,
};

/** All tools. None of them ends sessions. */
export const TOOLS: readonly Tool[] = Object.values(BY_NAME);
