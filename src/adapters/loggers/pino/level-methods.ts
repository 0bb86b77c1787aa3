import { type LevelOrder, levelOrder } from "./level-order.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** pino's own method for setting a level. It gives the logger one method for each label, a noop if the level disables it. */
export type SetLevel = (this: NativeLogger, label: string | number) => void;

const known = new WeakMap<NativeLogger["levels"], Map<string, LevelMethods>>();

/**
 * The methods that pino gives a logger at a level. pino makes new functions each time. These are made once and shared by all
 * loggers with the same set of levels, so that a change over a hundred thousand loggers makes little garbage.
 */
export function levelMethods(copy: PinoCopy, setLevel: SetLevel, logger: NativeLogger, label: string): LevelMethods {
  let byLabel = known.get(logger.levels);
  if (byLabel === undefined) known.set(logger.levels, (byLabel = new Map()));
  let found = byLabel.get(label);
  if (found === undefined) byLabel.set(label, (found = new LevelMethods(copy, setLevel, logger, label)));
  return found;
}

/** What a logger has while a level is its own. */
export class LevelMethods {
  readonly value: number;
  readonly labels: readonly string[];
  /** In the order of the labels. */
  readonly methods: readonly unknown[];
  readonly #order: LevelOrder;
  readonly #records: readonly number[];
  readonly #unchanged = new Map<number, readonly boolean[]>();

  constructor(copy: PinoCopy, setLevel: SetLevel, logger: NativeLogger, label: string) {
    const model = Object.create(logger) as NativeLogger;
    // The model is not a logger of the application: listeners of the real one must not get its "level-change".
    setLevel.call(Object.assign(model, { emit: () => false }), label);
    this.value = model[copy.levelValue] as number;
    this.labels = Object.keys(model).filter((key) => key !== "emit");
    this.methods = this.labels.map((each) => model[each]);
    this.#order = levelOrder(copy, logger);
    this.#records = this.labels.map((each) => logger.levels.values[each]!);
  }

  /** Which methods are enabled or disabled as they are at another threshold, in the order of the labels. */
  unchangedFrom(threshold: number): readonly boolean[] {
    let unchanged = this.#unchanged.get(threshold);
    if (unchanged === undefined) {
      const enables = (at: number, record: number) => this.#order.enables(at, record);
      unchanged = this.#records.map((record) => enables(this.value, record) === enables(threshold, record));
      this.#unchanged.set(threshold, unchanged);
    }
    return unchanged;
  }

  /** Gives a logger this level, as pino does. */
  assign(logger: NativeLogger, levelValue: symbol): void {
    logger[levelValue] = this.value;
    for (const [index, label] of this.labels.entries()) logger[label] = this.methods[index];
  }
}
