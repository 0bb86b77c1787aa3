import type { ActuatorLoggersOptions } from "../../actuator-options.ts";
import { CODE, type Notes } from "../setting.ts";

/** What is said of the options of loggers. */
export const LOGGERS_NOTES: Notes<ActuatorLoggersOptions> = {
  adapters: CODE,
  onLevelChange: CODE,
  groups: { description: 'Groups of loggers: { "web": ["shop.web", "shop.api.*"] }.', kind: "lists" },
  maxCreated: {
    description: "How many loggers may exist only because a level was set on their name.",
    default: 10_000,
  },
  maxLoggers: { description: "How many names of loggers may be known.", default: 250_000 },
  maxHistory: { description: "How many changes of level are remembered.", default: 10_000 },
  defaultTtlMs: {
    description: "What DEBUG and TRACE last where the caller does not say.",
    kind: "milliseconds",
    default: 600_000,
  },
  maxTtlMs: { description: "The longest that DEBUG and TRACE may last.", kind: "milliseconds", default: 86_400_000 },
  allowForever: { description: "Whether DEBUG and TRACE may be asked for for ever.", default: false },
  logLevelChanges: { description: "Whether each change of level is logged.", default: true },
  temporaryRestLevels: {
    description: "Whether DEBUG and TRACE set over REST last only for defaultTtlMs.",
    default: false,
  },
  state: { description: "The file in which levels survive a restart.", path: "written" },
  instance: { description: "What this process is called in the history. Default: host name and process id." },
};
