/** The names of all tools. */
export const TOOL_NAMES = [
  "list_loggers",
  "get_logger",
  "measure_loggers",
  "level_history",
  "integration_graph",
  "find_sessions",
  "debug_logger",
  "set_level",
  "restore_levels",
] as const;

/** The name of a tool. */
export type ToolName = (typeof TOOL_NAMES)[number];
