import type { CallInterception } from "./call-interception.ts";
import { levelMethods, type SetLevel } from "./level-methods.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

const none: readonly boolean[] = [];

/** What a logger had before its level was overridden. */
interface Original {
  /** Whether the level was the logger's own. If not, it followed its parent. */
  readonly own: boolean;
  readonly value: number;
  /** Its own methods and those that it inherited, in the order of the labels. */
  readonly methods: readonly unknown[];
  /** Which methods were its own: all if the level was, or else those that the application wrapped. Empty if none was. */
  readonly isOwn: readonly boolean[];
  /** The methods that it has instead. */
  readonly applied: unknown[];
  /** Whose override is in force. */
  by: object;
}

/**
 * Overrides the levels of one copy's loggers, and gives each of them back exactly what it had. Methods that a level leaves as
 * they were, enabled or disabled, stay: the application may have wrapped them.
 */
export class Overrides {
  readonly #copy: PinoCopy;
  readonly #setLevel: SetLevel;
  readonly #interception: CallInterception;
  readonly #originals = new WeakMap<NativeLogger, Original>();

  constructor(copy: PinoCopy, setLevel: SetLevel, interception: CallInterception) {
    this.#copy = copy;
    this.#setLevel = setLevel;
    this.#interception = interception;
  }

  /** The threshold that a logger has by itself: its own, or that of the logger it follows. */
  threshold(logger: NativeLogger): number {
    const { levelValue } = this.#copy;
    for (let at: NativeLogger | null = logger; at !== null; at = Object.getPrototypeOf(at) as NativeLogger | null) {
      const original = this.#originals.get(at);
      if (original?.own) return original.value;
      if (original === undefined && Object.hasOwn(at, levelValue)) break;
      logger = Object.getPrototypeOf(at) as NativeLogger;
    }
    return logger[levelValue] as number;
  }

  /** Gives a logger another level, as its own. Returns whether its level changed. */
  apply(logger: NativeLogger, label: string, by: object): boolean {
    const { levelValue } = this.#copy;
    const before = logger[levelValue] as number;
    const level = levelMethods(this.#copy, this.#setLevel, logger, label);
    const { labels, methods } = level;
    let original = this.#originals.get(logger);
    if (original !== undefined) {
      original.by = by;
      if (before === level.value) return false;
    }
    original ??= this.#originalOf(logger, labels, by);
    // Throws if the logger is frozen.
    logger[levelValue] = level.value;
    this.#originals.set(logger, original);
    const unchanged = level.unchangedFrom(original.value);
    for (let index = 0; index < labels.length; index++) {
      const method = unchanged[index] ? original.methods[index] : methods[index];
      original.applied[index] = method;
      logger[labels[index]!] = method;
    }
    this.#interception.touch(logger);
    return this.#emit(logger, before);
  }

  /** Gives a logger back what it had, unless another one overrode it since. Returns whether its level changed. */
  release(logger: NativeLogger, by: object): boolean {
    const original = this.#originals.get(logger);
    if (original?.by !== by) return false;
    const { levelValue } = this.#copy;
    const before = logger[levelValue] as number;
    const { own, value, methods, isOwn, applied } = original;
    const { labels } = levelMethods(this.#copy, this.#setLevel, logger, logger.levels.labels[before]!);
    this.#originals.delete(logger);
    if (own) logger[levelValue] = value;
    else delete logger[levelValue];
    for (const [index, label] of labels.entries()) {
      // What the application put there meanwhile stays.
      if (this.#interception.intercepted(logger[label]) !== applied[index]) continue;
      if (isOwn[index]) logger[label] = methods[index];
      else delete logger[label];
    }
    if (!own) makeFast(logger);
    this.#interception.touch(logger);
    return this.#emit(logger, before);
  }

  /** Makes the level that a logger has the one that it has by itself, because the application set it. */
  forget(logger: NativeLogger): void {
    this.#originals.delete(logger);
  }

  /** Gives a logger that was just made the threshold that it would have if its parent's were not overridden. */
  correct(logger: NativeLogger, threshold: number | undefined): void {
    const { levelValue } = this.#copy;
    if (threshold === undefined) {
      if (!Object.hasOwn(logger, levelValue)) return;
      for (const key of [levelValue, ...Object.keys(logger.levels.values)]) delete logger[key];
      makeFast(logger);
    } else if (!Object.hasOwn(logger, levelValue) || logger[levelValue] !== threshold) {
      const label = logger.levels.labels[threshold]!;
      levelMethods(this.#copy, this.#setLevel, logger, label).assign(logger, levelValue);
    }
  }

  #originalOf(logger: NativeLogger, labels: readonly string[], by: object): Original {
    const { levelValue } = this.#copy;
    const isOwn = labels.map((label) => Object.hasOwn(logger, label));
    return {
      own: Object.hasOwn(logger, levelValue),
      value: logger[levelValue] as number,
      methods: labels.map((label) => this.#interception.intercepted(logger[label])),
      isOwn: isOwn.includes(true) ? isOwn : none,
      applied: new Array<unknown>(labels.length),
      by,
    };
  }

  #emit(logger: NativeLogger, before: number): boolean {
    const value = logger[this.#copy.levelValue] as number;
    if (value === before) return false;
    const { labels } = logger.levels;
    logger.emit("level-change", labels[value], value, labels[before], before, logger);
    return true;
  }
}

/** A deletion makes an object slow, until its properties are read through an object that inherits from it. */
function makeFast(logger: NativeLogger): void {
  void (Object.create(logger) as NativeLogger).levels;
}
