import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../../kit/library-version.ts";

/** What debug 4 exports. That it really is that is checked when it is used. */
export interface DebugFactory {
  (namespace: string): unknown;
  enable(namespaces: string): void;
  disable(): string;
  enabled(namespace: string): boolean;
}

/** A copy of debug from within. All of it is reached through these properties, by the loggers of the copy too. */
export interface DebugCopy extends DebugFactory {
  /** Called with each logger as it is made. */
  init(logger: DebugLogger): void;
  /** Does nothing; there since 4.3. */
  readonly destroy: unknown;
  /** The patterns in force; a list of its own for each call of `enable`. */
  readonly names: readonly unknown[];
  /** The patterns of what is off whatever `names` say. */
  readonly skips: readonly unknown[];
  /** What `enable` was last called with. A logger asks again whether it is enabled once this is another value. */
  namespaces?: unknown;
}

/** One logger. */
export interface DebugLogger {
  readonly namespace: string;
  /** Set to true or false, it holds whatever the patterns say; null gives the logger back to the patterns. */
  set enabled(value: boolean | null);
  get enabled(): boolean;
}

/**
 * The copy of debug behind what the application passed.
 *
 * @throws ActuatorError INVALID_ARGUMENT where the value is no copy of debug, or one before 4.3.
 */
export function debugCopy(factory: DebugFactory): DebugCopy {
  const copy = factory as DebugCopy | null | undefined;
  const isCopy =
    typeof copy === "function" &&
    // Whoever has `destroy` has loggers that ask whether they are enabled; before, they were told.
    [copy.init, copy.enable, copy.disable, copy.enabled, copy.destroy].every((it) => typeof it === "function") &&
    Array.isArray(copy.names) &&
    Array.isArray(copy.skips);
  if (isCopy) return copy;
  requireVersion({ subpath: "debug", library: "debug", versions: "4.3 to 4.x" });
  throw new ActuatorError("INVALID_ARGUMENT", "NOT_DEBUG", "debugLoggers expects what debug 4.3 or newer exports.");
}
