import type { LoggerHandle } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";

/**
 * A logger of a library with nothing but a level. `own` is the one that it has by itself; `reach` is called with each level that is
 * applied or restored, and returns the one that is then in force.
 */
export function nativeHandle(own: Level = "INFO", reach: (level: Level) => Level = (level) => level): LoggerHandle {
  let level = own;
  return {
    get level() {
      return level;
    },
    apply(asked) {
      level = reach(asked);
    },
    restore() {
      level = reach(own);
    },
  };
}
