import { requireVersion } from "../../kit/library-version.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/** What debug 4 exports. `debugLoggers` checks what it is given. */
export interface DebugFactory {
  (namespace: string): unknown;
  enable(namespaces: string): void;
  disable(): string;
  enabled(namespace: string): boolean;
}

/** A copy of debug from within. Everything, its own loggers included, uses these properties. */
export interface DebugCopy extends DebugFactory {
  /** Called with each logger as it is made. */
  init(logger: DebugLogger): void;
  /** Does nothing, and exists since 4.3. */
  readonly destroy: unknown;
  /** The current patterns, in a new list after each call of `enable`. */
  readonly names: readonly unknown[];
  /** The patterns of names that are off, whatever is in `names`. */
  readonly skips: readonly unknown[];
  /** What `enable` was last called with. A logger asks again whether it is enabled when this has changed. */
  namespaces?: unknown;
}

/** One logger of debug. */
export interface DebugLogger {
  readonly namespace: string;
  /** True or false takes precedence over the patterns; null gives the logger back to the patterns. */
  set enabled(value: boolean | null);
  get enabled(): boolean;
}

/**
 * Returns a copy of debug with its internals.
 *
 * @throws ActuatorError INVALID_ARGUMENT if the value is not debug, or an older version than 4.3.
 */
export function debugCopy(factory: DebugFactory): DebugCopy {
  const copy = factory as DebugCopy | null | undefined;
  const isCopy =
    typeof copy === "function" &&
    // Since `destroy` exists, loggers ask whether they are enabled.
    [copy.init, copy.enable, copy.disable, copy.enabled, copy.destroy].every((it) => typeof it === "function") &&
    Array.isArray(copy.names) &&
    Array.isArray(copy.skips);
  if (isCopy) return copy;
  requireVersion({ subpath: "debug", library: "debug", versions: "4.3 to 4.x" });
  const expected =
    'debugLoggers needs debug 4.3 or newer, as `import debug from "debug"` gives it, or a list of copies';
  throw wrongArgument("NOT_DEBUG", expected, factory);
}
