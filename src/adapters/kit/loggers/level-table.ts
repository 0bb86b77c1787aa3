import { LEVELS, type Level, levelVerbosity } from "../../../loggers/level.ts";

/** A library's own levels beside the seven levels that this package shows. */
export class LevelTable<Native> {
  readonly #natives: ReadonlyMap<Level, Native>;
  readonly #levels = new Map<Native, Level>();

  /** Throws a RangeError if no level has a native one. If several share a native level, it is shown as the most verbose of them. */
  constructor(natives: Readonly<Partial<Record<Level, Native>>>) {
    const entries = LEVELS.flatMap((level) => {
      const native = natives[level];
      return native === undefined ? [] : [[level, native] as const];
    });
    if (entries.length === 0) throw new RangeError("a level table needs at least one level");
    this.#natives = new Map(entries);
    for (const [level, native] of entries) this.#levels.set(native, level);
  }

  /**
   * The native level to set for a level. If the library lacks the level, it is the next more severe one that it has, or else its
   * most severe one.
   */
  native(level: Level): Native {
    let nearest: Native | undefined;
    for (const [known, native] of this.#natives) {
      if (nearest !== undefined && levelVerbosity(known) > levelVerbosity(level)) break;
      nearest = native;
    }
    return nearest as Native;
  }

  /** The level to show for a native one; undefined if the table does not have it. */
  level(native: Native): Level | undefined {
    return this.#levels.get(native);
  }
}

/** The less verbose of two levels: what passes two thresholds, one after the other. */
export function stricter(one: Level, other: Level): Level {
  return levelVerbosity(one) < levelVerbosity(other) ? one : other;
}
