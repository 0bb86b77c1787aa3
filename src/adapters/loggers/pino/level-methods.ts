import type { NativeLogger, PinoCopy } from "./native.ts";

/** pino's own method for setting a level. It gives the logger one method for each label, a noop if the level disables it. */
export type SetLevel = (this: NativeLogger, label: string | number) => void;

/** What a logger has while a level is its own. */
export interface LevelMethods {
  readonly value: number;
  /** By label. */
  readonly methods: ReadonlyMap<string, unknown>;
}

const known = new WeakMap<NativeLogger["levels"], Map<string, LevelMethods>>();

/**
 * The methods that pino gives a logger at a level. pino makes new functions each time. These are made once and shared by all
 * loggers with the same set of levels, so that a change over a hundred thousand loggers makes little garbage.
 */
export function levelMethods(copy: PinoCopy, setLevel: SetLevel, logger: NativeLogger, label: string): LevelMethods {
  let byLabel = known.get(logger.levels);
  if (byLabel === undefined) known.set(logger.levels, (byLabel = new Map()));
  let found = byLabel.get(label);
  if (found === undefined) byLabel.set(label, (found = makeMethods(copy.levelValue, setLevel, logger, label)));
  return found;
}

function makeMethods(levelValue: symbol, setLevel: SetLevel, logger: NativeLogger, label: string): LevelMethods {
  const model = Object.create(logger) as NativeLogger;
  // The model is not a logger of the application: listeners of the real one must not get its "level-change".
  const silent = Object.assign(model, { emit: () => false });
  setLevel.call(silent, label);
  const methods = Object.entries(model).filter(([key]) => key !== "emit");
  return { value: model[levelValue] as number, methods: new Map(methods) };
}
