import { inspect } from "node:util";
import { ActuatorError } from "../../../common/error.ts";
import { callable, checkOptions, text, unknown } from "../../../common/options.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost, RecordSink } from "../../../loggers/adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import { loggerName, ROOT } from "../../../loggers/name.ts";
import { keptRecord } from "../../kit/loggers/kept-record.ts";
import { LevelTable } from "../../kit/loggers/level-table.ts";
import { recordSinks } from "../../kit/loggers/record-sinks.ts";
import { wrongArgument } from "../../kit/loggers/wrong-argument.ts";

/** A record that a logger of any library writes. */
export interface CustomRecord<Native> {
  /** The native level of the record, one of the map. */
  readonly level: Native;
  readonly message: string;
  /** Its other fields, which are copied at once. */
  readonly fields?: object | undefined;
  readonly error?: unknown;
}

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
  /**
   * Begins to call `hear` with every record that the logger writes, after the library's own redaction, and returns a function that
   * ends it. It is called when the first caller reads the logger's records. `hear` throws nothing. Without it, records are not
   * shown.
   */
  readonly tail?: ((hear: (record: CustomRecord<Native>) => void) => () => void) | undefined;
}

/**
 * Manages one logger of a library that has no adapter of its own. For several loggers, pass one adapter for each.
 *
 * With `get`, the logger's level is its configured level, unless the nearest name above has the same. Pass the adapter of ROOT
 * first, so that this is known. Levels that the application sets later are adopted at the next listing or change, unless it sets the
 * very level that an operator has set. Without `get`, its own level is unknown: when an operator's level ends, the logger is given the one of the nearest name above.
 *
 * With `tail`, its records can be read. A raise with `onlyHere` is refused, because `tail` hears what was written already.
 *
 * @example
 * ```ts
 * import { EventEmitter } from "node:events";
 * import { createActuator, customLogger } from "connect-actuator";
 *
 * const log = { threshold: 2, events: new EventEmitter() };
 * const logger = customLogger("shop.orders", {
 *   get: () => log.threshold,
 *   set: (threshold) => {
 *     log.threshold = threshold;
 *   },
 *   map: { ERROR: 0, WARN: 1, INFO: 2, DEBUG: 3 },
 *   tail: (hear) => {
 *     const written = (level: number, message: string, fields: object) => hear({ level, message, fields });
 *     log.events.on("written", written);
 *     return () => log.events.off("written", written);
 *   },
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
    tail: callable,
  });
  const { get, set, map, tail, kind = "custom" } = options ?? {};
  if (typeof name !== "string") {
    throw wrongArgument("NO_NAME", 'customLogger needs a name, such as customLogger("shop.orders", { … })', name);
  }
  if (typeof set !== "function") {
    throw wrongArgument("NO_SET", "customLogger needs options.set, a function that sets a native level", set);
  }
  const logger = new CustomLogger(loggerName(name), get, set, levelTable(map));
  return {
    kind,
    attach: (host) => logger.attach(host),
    ...(get && { refresh: () => logger.readLevels(), readLevels: () => logger.readLevels() }),
    ...(tail && {
      tail: (sinkOf: (name: string) => RecordSink | undefined) => logger.tail(tail, sinkOf),
      hides: `customLogger hears a record of ${kind} when it has been written already`,
    }),
  };
}

function levelTable<Native>(map: CustomLoggerOptions<Native>["map"]): LevelTable<Native> {
  if (LEVELS.some((level) => map?.[level] !== undefined)) return new LevelTable(map);
  const message = `customLogger needs options.map with at least one of the levels ${LEVELS.join(", ")}, not ${inspect(map, { depth: 0 })}.`;
  throw new ActuatorError("INVALID_ARGUMENT", "NO_LEVELS_MAPPED", message, { field: "map" });
}

class CustomLogger<Native> implements LoggerHandle {
  readonly name: string;
  readonly #get: (() => Native) | undefined;
  readonly #set: (native: Native) => void;
  readonly #levels: LevelTable<Native>;
  #host: LoggerHost | undefined;
  /** The native level that the application last set, as far as it is known. */
  #own: Native | undefined;
  /** The native level that was last set by {@link apply} or {@link restore}. */
  #pushed: { readonly native: Native } | undefined;

  constructor(
    name: string,
    get: (() => Native) | undefined,
    set: (native: Native) => void,
    levels: LevelTable<Native>,
  ) {
    this.name = name;
    this.#get = get;
    this.#set = set;
    this.#levels = levels;
  }

  attach(host: LoggerHost): () => void {
    this.#host = host;
    this.#own = this.#read();
    const level = this.#own === undefined ? undefined : this.#levels.level(this.#own);
    const isInherited = this.name !== ROOT && level === this.#reachable(host.levelAbove(this.name));
    host.discovered(this.name, this, isInherited ? undefined : level);
    return () => {
      this.#host = undefined;
    };
  }

  readLevels(): void {
    const native = this.#read();
    const expected = this.#pushed === undefined ? this.#own : this.#pushed.native;
    if (native === undefined || Object.is(native, expected)) return;
    this.#own = native;
    this.#pushed = undefined;
    this.#host?.changedOutside(this, this.#levels.level(native));
  }

  tail(
    begin: NonNullable<CustomLoggerOptions<Native>["tail"]>,
    sinkOf: (name: string) => RecordSink | undefined,
  ): () => void {
    const sinks = recordSinks<CustomLogger<Native>>(sinkOf);
    let isOpen = true;
    const end = begin(({ level: native, message, fields = {}, error }) => {
      if (!isOpen) return;
      const level = this.#levels.level(native);
      if (level === undefined)
        return this.#host?.warn(this.name, `the level "${String(native)}" of a record is not in its map`);
      const verbosity = levelVerbosity(level);
      const sink = sinks.find(this, verbosity);
      const head = { verbosity, nativeLevel: String(native), hidden: false };
      if (sink !== undefined) sinks.give(sink, () => keptRecord(head, { message, fields, error }));
    });
    if (typeof end !== "function") {
      throw wrongArgument("NO_END", "options.tail of customLogger must return a function that ends it", end);
    }
    return () => {
      isOpen = false;
      end();
    };
  }

  get level(): Level {
    const native = this.#read() ?? this.#pushed?.native;
    return (native === undefined ? undefined : this.#levels.level(native)) ?? this.#levelAbove;
  }

  apply(level: Level): void {
    this.#push(this.#levels.native(level));
  }

  restore(): void {
    this.#push(this.#own ?? this.#levels.native(this.#levelAbove));
  }

  get #levelAbove(): Level {
    return this.#host?.levelAbove(this.name) ?? "OFF";
  }

  /** The level that is shown once `level` was set. */
  #reachable(level: Level): Level {
    return this.#levels.level(this.#levels.native(level))!;
  }

  #push(native: Native): void {
    // A level that is set already is not set again: some libraries do more than that, such as giving all streams one level.
    if (this.#get === undefined || !Object.is(this.#get(), native)) this.#set(native);
    this.#pushed = { native: this.#read() ?? native };
  }

  #read(): Native | undefined {
    if (this.#get === undefined) return undefined;
    let native: Native;
    try {
      native = this.#get();
    } catch (error) {
      this.#host?.warn(this.name, `its level cannot be read: ${error}`);
      return undefined;
    }
    if (this.#levels.level(native) === undefined) {
      this.#host?.warn(this.name, `its level "${String(native)}" is not in its map`);
    }
    return native;
  }
}
