import { inspect } from "node:util";
import { ActuatorError } from "../../../common/error.ts";
import { callable, checkOptions, text, unknown } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { LEVELS, type Level } from "../../../loggers/level.ts";
import { loggerName, ROOT } from "../../../loggers/name.ts";
import { LevelTable } from "../../kit/loggers/level-table.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/** How a logger of any library is read and set. `Native` is the library's type of levels, such as strings or numbers. */
export interface CustomLoggerOptions<Native> {
  /** The library's name, shown as the kind of the logger. Default "custom". */
  readonly kind?: string | undefined;
  /** Returns the native level in effect. Without it, the application's own level and its later changes are unknown. */
  readonly get?: (() => Native) | undefined;
  /** Sets the native level, from the next record on. */
  readonly set: (native: Native) => void;
  /**
   * The native level of each level that the library has. A level that is left out becomes the next more severe one in the map,
   * which is then shown as effective; below all of them, it becomes the most severe one. If several levels share a native one,
   * the most verbose of them is shown.
   */
  readonly map: Readonly<Partial<Record<Level, Native>>>;
}

/**
 * Manages one logger of a library that has no adapter of its own. For several loggers, pass one adapter for each.
 *
 * With `get`, the logger keeps the level it has: that is its configured level, unless it would inherit the same. Pass the
 * adapter of ROOT first, so that this is known. Levels that the application sets later are adopted at the next listing. Without
 * `get`, the logger is given at once the level that its name inherits.
 *
 * @example
 * ```ts
 * import { createActuator, customLogger } from "connect-actuator";
 *
 * const log = { threshold: 2 };
 * const logger = customLogger("shop.orders", {
 *   get: () => log.threshold,
 *   set: (threshold) => {
 *     log.threshold = threshold;
 *   },
 *   map: { ERROR: 0, WARN: 1, INFO: 2, DEBUG: 3 },
 * });
 * const actuator = createActuator({ loggers: { adapters: [logger] } });
 * ```
 * @throws ActuatorError INVALID_ARGUMENT for an invalid name, a missing `set`, or a `map` without levels.
 */
export function customLogger<Native>(name: string, options: CustomLoggerOptions<Native>): LoggerAdapter {
  checkOptions<CustomLoggerOptions<Native>>("customLogger", options, {
    kind: text,
    get: callable,
    set: callable,
    map: unknown,
  });
  const { get, set, map, kind = "custom" } = options ?? {};
  if (typeof name !== "string") {
    throw wrongArgument("NO_NAME", 'customLogger needs a name, such as customLogger("shop.orders", { … })', name);
  }
  if (typeof set !== "function") {
    throw wrongArgument("NO_SET", "customLogger needs options.set, a function that sets a native level", set);
  }
  const logger = new CustomLogger(loggerName(name), get, set, levelTable(map));
  return { kind, attach: (host) => logger.attach(host), ...(get && { refresh: () => logger.refresh() }) };
}

function levelTable<Native>(map: CustomLoggerOptions<Native>["map"]): LevelTable<Native> {
  if (LEVELS.some((level) => map?.[level] !== undefined)) return new LevelTable(map);
  const message = `customLogger needs options.map with at least one of the levels ${LEVELS.join(", ")}, not ${inspect(map, { depth: 0 })}.`;
  throw new ActuatorError("INVALID_ARGUMENT", "NO_LEVELS_MAPPED", message, { field: "map" });
}

class CustomLogger<Native> {
  readonly #name: string;
  readonly #get: (() => Native) | undefined;
  readonly #set: (native: Native) => void;
  readonly #levels: LevelTable<Native>;
  #host: LoggerHost | undefined;
  /** The level in effect, as far as it is known. */
  #reached: Level | undefined;
  readonly #handle: LoggerHandle = { apply: (level) => this.#apply(level) };

  constructor(
    name: string,
    get: (() => Native) | undefined,
    set: (native: Native) => void,
    levels: LevelTable<Native>,
  ) {
    this.#name = name;
    this.#get = get;
    this.#set = set;
    this.#levels = levels;
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    const found = this.#read();
    host.discovered(this.#name, this.#handle, found === this.#inherited(host) ? undefined : found);
    return () => {
      this.#host = undefined;
    };
  }

  refresh(): void {
    const level = this.#read();
    if (level === undefined || level === this.#reached) return;
    this.#reached = level;
    this.#host?.changedOutside(this.#handle, level);
  }

  /** The level that the logger would inherit. */
  #inherited(host: LoggerHost): Level | undefined {
    // ROOT does not inherit.
    if (this.#name === ROOT) return undefined;
    let inherited: Level | undefined;
    const probe: LoggerHandle = { apply: (level) => (inherited = this.#reachable(level)) };
    if (host.discovered(this.#name, probe)) host.gone(probe);
    return inherited;
  }

  #apply(level: Level): Level {
    const native = this.#levels.native(level);
    // A level that is set already is not set again: some libraries do more than that, such as giving all streams one level.
    if (this.#get === undefined || !Object.is(this.#get(), native)) this.#set(native);
    this.#reached = this.#read() ?? this.#reachable(level);
    return this.#reached;
  }

  /** The level that is shown once `level` was set. */
  #reachable(level: Level): Level {
    return this.#levels.level(this.#levels.native(level))!;
  }

  #read(): Level | undefined {
    if (this.#get === undefined) return undefined;
    let native: Native;
    try {
      native = this.#get();
    } catch (error) {
      this.#host?.warn(this.#name, `its level cannot be read: ${error}`);
      return undefined;
    }
    const level = this.#levels.level(native);
    if (level === undefined) this.#host?.warn(this.#name, `its level "${String(native)}" is not in its map`);
    return level;
  }
}
