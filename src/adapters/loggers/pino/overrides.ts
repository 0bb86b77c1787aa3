import type { CallInterception } from "./call-interception.ts";
import { levelMethods, type SetLevel } from "./level-methods.ts";
import { levelOrder } from "./level-order.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

type Methods = ReadonlyMap<string, unknown>;

/** What a logger had before its level was overridden. */
interface Original {
  /** Whether the level was the logger's own. If not, it followed its parent. */
  readonly own: boolean;
  readonly value: number;
  /** Its own methods and those that it inherited. */
  readonly methods: Methods;
  /** The labels of its own methods: all if the level was its own, or else those that the application wrapped. */
  readonly ownMethods: readonly string[];
  /** The methods that it has instead. */
  applied: Methods;
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
    const { value, methods } = levelMethods(this.#copy, this.#setLevel, logger, label);
    const original = this.#originals.get(logger);
    if (original !== undefined) {
      original.by = by;
      if (before === value) return false;
    }
    const base = original ?? {
      own: Object.hasOwn(logger, levelValue),
      value: before,
      methods: this.#present(logger, methods),
      ownMethods: [...methods.keys()].filter((key) => Object.hasOwn(logger, key)),
      applied: methods,
      by,
    };
    // Throws if the logger is frozen.
    logger[levelValue] = value;
    this.#originals.set(logger, base);
    const order = levelOrder(this.#copy, logger);
    const isAsBefore = (key: string) => {
      const record = logger.levels.values[key]!;
      return order.enables(value, record) === order.enables(base.value, record);
    };
    base.applied = new Map(
      [...methods].map(([key, method]) => [key, isAsBefore(key) ? base.methods.get(key) : method]),
    );
    assign(logger, base.applied);
    this.#interception.touch(logger);
    return this.#emit(logger, before);
  }

  /** Gives a logger back what it had, unless another one overrode it since. Returns whether its level changed. */
  release(logger: NativeLogger, by: object): boolean {
    const original = this.#originals.get(logger);
    if (original?.by !== by) return false;
    const { levelValue } = this.#copy;
    const before = logger[levelValue] as number;
    const present = this.#present(logger, original.applied);
    // What the application put there meanwhile stays.
    const ours = [...original.applied].filter(([key, method]) => present.get(key) === method).map(([key]) => key);
    this.#originals.delete(logger);
    if (original.own) logger[levelValue] = original.value;
    else unset(logger, [levelValue, ...ours.filter((key) => !original.ownMethods.includes(key))]);
    const own = ours.filter((key) => original.ownMethods.includes(key));
    assign(logger, new Map(own.map((key) => [key, original.methods.get(key)])));
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
      if (Object.hasOwn(logger, levelValue)) unset(logger, [levelValue, ...Object.keys(logger.levels.values)]);
    } else if (!Object.hasOwn(logger, levelValue) || logger[levelValue] !== threshold) {
      const label = logger.levels.labels[threshold]!;
      const { value, methods } = levelMethods(this.#copy, this.#setLevel, logger, label);
      logger[levelValue] = value;
      assign(logger, methods);
    }
  }

  /** The methods that a logger has, without what counts its calls. */
  #present(logger: NativeLogger, methods: Methods): Methods {
    return new Map([...methods.keys()].map((key) => [key, this.#interception.intercepted(logger[key])]));
  }

  #emit(logger: NativeLogger, before: number): boolean {
    const value = logger[this.#copy.levelValue] as number;
    if (value === before) return false;
    const { labels } = logger.levels;
    logger.emit("level-change", labels[value], value, labels[before], before, logger);
    return true;
  }
}

function assign(logger: NativeLogger, methods: Methods): void {
  for (const [key, method] of methods) logger[key] = method;
}

function unset(logger: NativeLogger, keys: readonly (string | symbol)[]): void {
  for (const key of keys) delete logger[key];
  // A deletion makes an object slow, until its properties are read through an object that inherits from it.
  void (Object.create(logger) as NativeLogger).levels;
}
