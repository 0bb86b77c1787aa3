import type { NativeLogger, PinoCopy } from "./native.ts";

/** pino's own way to set a level: it gives the logger one method for each label, a noop where the level is disabled. */
export type SetLevel = (this: NativeLogger, label: string) => void;

/** What a logger has while a level is its own. */
export interface LevelMethods {
  readonly value: number;
  readonly methods: readonly (readonly [label: string, method: unknown])[];
  readonly byLabel: ReadonlyMap<string, unknown>;
}

const known = new WeakMap<NativeLogger["levels"], Map<string, LevelMethods>>();

/**
 * The methods that pino gives a logger at a level. pino makes new ones each time; these are made once and serve every logger
 * with the same set of levels, so that a change over a hundred thousand loggers leaves no garbage behind.
 */
export function levelMethods(
  { levelValue }: PinoCopy,
  setLevel: SetLevel,
  logger: NativeLogger,
  label: string,
): LevelMethods {
  let byLabel = known.get(logger.levels);
  if (byLabel === undefined) known.set(logger.levels, (byLabel = new Map()));
  let found = byLabel.get(label);
  if (found === undefined) byLabel.set(label, (found = make(levelValue, setLevel, logger, label)));
  return found;
}

function make(levelValue: symbol, setLevel: SetLevel, logger: NativeLogger, label: string): LevelMethods {
  const model = Object.create(logger) as NativeLogger;
  // The model is nobody's logger: listeners of the real one must not hear of it.
  const silent = Object.assign(model, { emit: () => false });
  setLevel.call(silent, label);
  const methods = Object.entries(model).filter(([key]) => key !== "emit");
  return { value: model[levelValue] as number, methods, byLabel: new Map(methods) };
}
