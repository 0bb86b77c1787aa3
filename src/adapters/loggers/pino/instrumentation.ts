import { Instrumentation } from "../../kit/loggers/instrumentation.ts";
import { CallInterception } from "./call-interception.ts";
import type { SetLevel } from "./level-methods.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";
import { Overrides } from "./overrides.ts";
import { RecordTap } from "./record-tap.ts";

/** What an adapter learns from watching a copy of pino. */
export interface PinoObserver {
  /** `parent.child(bindings, options)` made a child. `levelSet` says whether an `onChild` callback set its level. */
  childMade(
    child: NativeLogger,
    parent: NativeLogger,
    bindings: object,
    options: ChildOptions | null | undefined,
    levelSet: boolean,
  ): void;
  /** The application set a level on a logger, or made a root logger. */
  levelSet(logger: NativeLogger): void;
  /** Another adapter overrode the level of a logger, or gave it back. */
  levelPushed(logger: NativeLogger): void;
  /** `logger.setBindings()` was called. */
  bindingsSet(logger: NativeLogger, bindings: object): void;
}

/** What of a child's options has to do with its level. */
export interface ChildOptions {
  readonly level?: unknown;
  readonly customLevels?: unknown;
}

type Child = (this: NativeLogger, bindings: object, options?: ChildOptions | null) => NativeLogger;
type SetBindings = (this: NativeLogger, bindings: object) => void;

const instrumentations = new WeakMap<NativeLogger, PinoInstrumentation>();

/** The instrumentation of a copy of pino, which all adapters share. */
export function pinoInstrumentation(copy: PinoCopy): PinoInstrumentation {
  let instrumentation = instrumentations.get(copy.prototype);
  if (instrumentation === undefined) {
    instrumentations.set(copy.prototype, (instrumentation = new PinoInstrumentation(copy)));
  }
  return instrumentation;
}

/**
 * Watches every logger that a copy of pino makes and every level set on one. All loggers of a copy share a prototype, so
 * replacing three of its methods is enough, the application's code stays as it is, and nothing runs when a record is written.
 */
export class PinoInstrumentation extends Instrumentation<PinoObserver> {
  readonly interception: CallInterception;
  readonly overrides: Overrides;
  readonly tap: RecordTap;
  readonly #copy: PinoCopy;

  constructor(copy: PinoCopy) {
    super();
    this.#copy = copy;
    const setLevel = copy.prototype[copy.setLevel] as SetLevel;
    this.interception = new CallInterception(copy, setLevel);
    this.overrides = new Overrides(copy, setLevel, this.interception);
    this.tap = new RecordTap(copy);
  }

  /** Overrides the level of a logger, or gives the logger back its own (undefined), and tells every observer but `by`. */
  override(logger: NativeLogger, label: string | undefined, by: PinoObserver): void {
    const { overrides } = this;
    const hasChanged = label === undefined ? overrides.release(logger, by) : overrides.apply(logger, label, by);
    if (!hasChanged) return;
    for (const observer of this.observers) if (observer !== by) observer.levelPushed(logger);
  }

  protected install(): () => void {
    const { prototype, setLevel, freezesChildren } = this.#copy;
    const { observers, overrides } = this;
    const originalChild = prototype.child as unknown as Child;
    const originalSetLevel = prototype[setLevel] as SetLevel;
    const originalSetBindings = prototype.setBindings as SetBindings;
    /** The logger whose child pino is making. */
    let parent: NativeLogger | undefined;
    /** How many levels pino itself sets on that child, less those that were set. Negative if the application set one. */
    let expected = 0;

    const child: Child = function child(bindings, options) {
      const outer = parent;
      const outerExpected = expected;
      parent = this;
      expected = freezesChildren || (options != null && setsLevel(this, options)) ? 1 : 0;
      let levelSet = false;
      let made: NativeLogger;
      try {
        made = originalChild.call(this, bindings, options);
        levelSet = expected < 0;
      } finally {
        parent = outer;
        expected = outerExpected;
      }
      for (const observer of observers) observer.childMade(made, this, bindings, options, levelSet);
      return made;
    };
    const setLevelOf: SetLevel = function (level) {
      if (parent !== undefined && Object.getPrototypeOf(this) === parent) {
        expected--;
        originalSetLevel.call(this, level);
        return;
      }
      originalSetLevel.call(this, level);
      overrides.forget(this);
      for (const observer of observers) observer.levelSet(this);
    };
    const setBindings: SetBindings = function (bindings) {
      originalSetBindings.call(this, bindings);
      for (const observer of observers) observer.bindingsSet(this, bindings);
    };

    const replaced = [
      ["child", originalChild, child],
      [setLevel, originalSetLevel, setLevelOf],
      ["setBindings", originalSetBindings, setBindings],
    ] as const;
    for (const [key, , replacement] of replaced) prototype[key] = replacement;
    return () => {
      for (const [key, original, replacement] of replaced) {
        if (prototype[key] === replacement) prototype[key] = original;
      }
    };
  }
}

/** Whether pino 10 sets a level on a child with these options. */
function setsLevel(parent: NativeLogger, options: ChildOptions): boolean {
  return (options.level !== undefined && options.level !== parent.level) || Object.hasOwn(options, "customLevels");
}
