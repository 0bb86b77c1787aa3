import { ActuatorError } from "../../../common/error.ts";
import type { LoggerAdapter, LoggerHandle, LoggerHost } from "../../../loggers/adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";
import { loggerName, ROOT } from "../../../loggers/name.ts";

/** How a logger of any library is read and set. `Native` is what the library has for levels: texts, numbers, booleans. */
export interface CustomLoggerOptions<Native> {
  /** The library's name, shown as the kind of the logger. Default "custom". */
  readonly kind?: string | undefined;
  /** The level natively in effect. Without it the application's own level is unknown, and so are its later changes. */
  readonly get?: (() => Native) | undefined;
  /** Makes a native level the one in effect, from the next record on. */
  readonly set: (native: Native) => void;
  /**
   * The native level of each level that the library has. A level left out becomes the next more severe one that is there, which
   * is then reported as reached; below all of them, the most severe one. Where several levels share a native one, the most verbose of
   * them is reported.
   */
  readonly map: Readonly<Partial<Record<Level, Native>>>;
}

/**
 * Manages one logger, of a library that has no adapter of its own. For several loggers, attach one adapter for each.
 *
 * With `get`, the level found is kept: it is the configured one, unless the logger would inherit the same anyhow. Attach
 * the adapter of ROOT first, so that this is known. Levels that application code sets later are adopted when somebody reads.
 * Without `get`, the logger is given at once what its name says.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unfit name, or a `map` without levels.
 */
export function customLogger<Native>(name: string, options: CustomLoggerOptions<Native>): LoggerAdapter {
  const scale = nativeScale(options.map);
  const { get, set, kind = "custom" } = options;
  const logger = new CustomLogger(loggerName(name), get, set, scale);
  return { kind, attach: (host) => logger.attach(host), ...(get && { refresh: () => logger.refresh() }) };
}

/** A level that a library has, with its own name for it. */
interface Step<Native> {
  readonly level: Level;
  readonly native: Native;
}

/** A library's levels, from the most severe to the most verbose. */
interface NativeScale<Native> {
  /** What a level becomes. */
  step(level: Level): Step<Native>;
  /** What a native level is; undefined for one that is not among those mapped. */
  level(native: Native): Level | undefined;
}

function nativeScale<Native>(map: CustomLoggerOptions<Native>["map"]): NativeScale<Native> {
  const mapped = LEVELS.filter((level) => map?.[level] !== undefined);
  const [mostSevere] = mapped;
  if (mostSevere === undefined) {
    const message = `The map of a custom logger has none of the levels ${LEVELS.join(", ")}.`;
    throw new ActuatorError("INVALID_ARGUMENT", "NO_LEVELS_MAPPED", message, { field: "map" });
  }
  const levelOf = (native: Native) => mapped.findLast((level) => Object.is(map[level], native));
  return {
    step(level) {
      const reached = mapped.findLast((known) => levelVerbosity(known) <= levelVerbosity(level)) ?? mostSevere;
      const native = map[reached]!;
      return { level: levelOf(native)!, native };
    },
    level: levelOf,
  };
}

class CustomLogger<Native> {
  readonly #name: string;
  readonly #get: (() => Native) | undefined;
  readonly #set: (native: Native) => void;
  readonly #scale: NativeScale<Native>;
  #host: LoggerHost | undefined;
  /** What is in effect as far as it is known. */
  #reached: Level | undefined;
  readonly #handle: LoggerHandle = { apply: (level) => this.#apply(level) };

  constructor(
    name: string,
    get: (() => Native) | undefined,
    set: (native: Native) => void,
    scale: NativeScale<Native>,
  ) {
    this.#name = name;
    this.#get = get;
    this.#set = set;
    this.#scale = scale;
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

  /** What the logger would be given if nothing were configured for it. */
  #inherited(host: LoggerHost): Level | undefined {
    // ROOT inherits from nowhere.
    if (this.#name === ROOT) return undefined;
    let inherited: Level | undefined;
    const probe: LoggerHandle = { apply: (level) => (inherited = this.#scale.step(level).level) };
    if (host.discovered(this.#name, probe)) host.gone(probe);
    return inherited;
  }

  #apply(level: Level): Level {
    const step = this.#scale.step(level);
    // What is so already is left alone: libraries do more than is asked, such as giving all streams one level.
    if (this.#get === undefined || !Object.is(this.#get(), step.native)) this.#set(step.native);
    this.#reached = this.#read() ?? step.level;
    return this.#reached;
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
    const level = this.#scale.level(native);
    if (level === undefined) this.#host?.warn(this.#name, `its level "${String(native)}" is none of those mapped`);
    return level;
  }
}
