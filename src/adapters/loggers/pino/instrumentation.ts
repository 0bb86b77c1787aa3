import { Instrumentation } from "../../kit/loggers/instrumentation.ts";
import { CallInterception } from "./call-interception.ts";
import { levelMethods, type SetLevel } from "./level.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** What an adapter learns from watching a copy of pino. */
export interface PinoObserver {
  /** `parent.child()` made a child. `own` says whether the child has a level of its own. */
  childMade(child: NativeLogger, parent: NativeLogger, bindings: object, own: boolean): void;
  /** The application set a level on a logger, or made a root logger. */
  levelSet(logger: NativeLogger): void;
  /** An adapter, this one or another, set a level by {@link PinoInstrumentation.pushLevel}. */
  levelPushed(logger: NativeLogger): void;
}

type Child = (
  this: NativeLogger,
  bindings: object,
  options?: { level?: unknown; customLevels?: unknown },
) => NativeLogger;

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
 * replacing two of its methods is enough, the application's code stays as it is, and nothing runs when a record is written.
 *
 * While a copy before pino 10 is watched, its children follow their parent's level as those of pino 10 do. Without that they
 * would start with a frozen copy of the level.
 */
export class PinoInstrumentation extends Instrumentation<PinoObserver> {
  readonly interception: CallInterception;
  readonly #copy: PinoCopy;
  readonly #setLevel: SetLevel;

  constructor(copy: PinoCopy) {
    super();
    this.#copy = copy;
    this.#setLevel = copy.prototype[copy.setLevel] as SetLevel;
    this.interception = new CallInterception(copy, this.#setLevel);
  }

  /** Sets a level as pino does, but without making new functions, and tells every observer. */
  pushLevel(logger: NativeLogger, label: string): void {
    const { levelValue } = this.#copy;
    const before = logger[levelValue] as number;
    const { value, methods } = levelMethods(this.#copy, this.#setLevel, logger, label);
    logger[levelValue] = value;
    for (const [key, method] of methods) logger[key] = method;
    this.interception.touch(logger);
    logger.emit("level-change", label, value, logger.levels.labels[before], before, logger);
    for (const observer of this.observers) observer.levelPushed(logger);
  }

  protected install(): () => void {
    const { prototype, setLevel, levelValue, freezesChildren } = this.#copy;
    const { observers } = this;
    const originalChild = prototype.child as unknown as Child;
    const originalSetLevel = prototype[setLevel] as SetLevel;
    /** Set while pino makes a child: whether that is to follow its parent or gets a level of its own. */
    let birth: "inheriting" | "own" | undefined;

    const child: Child = function child(bindings, options) {
      const own =
        options != null &&
        ((options.level !== undefined && options.level !== this.level) || Object.hasOwn(options, "customLevels"));
      const outer = birth;
      birth = own ? "own" : freezesChildren ? "inheriting" : undefined;
      let made: NativeLogger;
      try {
        made = originalChild.call(this, bindings, options);
      } finally {
        birth = outer;
      }
      for (const observer of observers) observer.childMade(made, this, bindings, Object.hasOwn(made, levelValue));
      return made;
    };
    const setLevelOf: SetLevel = function (level) {
      const atBirth = birth;
      // Only pino's own call while it makes a child counts: an `onChild` callback may set a level too.
      birth = undefined;
      if (atBirth === "inheriting") return;
      originalSetLevel.call(this, level);
      if (atBirth === undefined) for (const observer of observers) observer.levelSet(this);
    };

    prototype.child = child;
    prototype[setLevel] = setLevelOf;
    return () => {
      if (prototype.child === child) prototype.child = originalChild;
      if (prototype[setLevel] === setLevelOf) prototype[setLevel] = originalSetLevel;
    };
  }
}
