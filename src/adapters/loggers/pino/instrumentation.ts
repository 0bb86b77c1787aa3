import { CallInterception, type CallListener, type CallPass } from "./call-interception.ts";
import { levelMethods, type SetLevel } from "./level-methods.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** What is told to each adapter that watches a copy of pino. */
export interface PinoObserver {
  /** A child was made, by `child()` of `parent`. `own`: with a level of its own. */
  childMade(child: NativeLogger, parent: NativeLogger, bindings: object, own: boolean): void;
  /** A level was set on a logger that exists, or a root logger was made. */
  levelSet(logger: NativeLogger): void;
  /** A level was set by {@link pushLevel}, for this observer or another one. */
  levelPushed(logger: NativeLogger): void;
}

interface Instrumentation {
  readonly observers: Set<PinoObserver>;
  readonly originalSetLevel: SetLevel;
  readonly interception: CallInterception;
  restore(): void;
}

const instrumentations = new WeakMap<NativeLogger, Instrumentation>();

/**
 * Observes every logger that a copy of pino makes, and every level set on one, until the returned function is called. All
 * loggers of one copy share a prototype, so replacing two of its methods sees them all without touching the application's
 * code, and nothing of it runs when a record is written.
 *
 * While a copy before pino 10 is observed, its children inherit live as pino 10's do: they are not given a frozen copy of
 * their parent's level (pino 10.0.0 made that the library's own behaviour).
 */
export function observePino(copy: PinoCopy, observer: PinoObserver): () => void {
  const instrumentation = instrumentations.get(copy.prototype) ?? instrument(copy);
  instrumentation.observers.add(observer);
  return () => {
    instrumentation.observers.delete(observer);
    if (instrumentation.observers.size === 0) instrumentation.restore();
  };
}

/**
 * Tells of every call of these loggers, and of those that are pushed a level meanwhile, until the returned function is called.
 * The copy must be observed.
 */
export function listenToCalls(copy: PinoCopy, listener: CallListener, loggers: Iterable<NativeLogger>): () => void {
  return instrumentations.get(copy.prototype)!.interception.listen(listener, loggers);
}

/**
 * Lets single disabled calls of these loggers through, and of those that are pushed a level meanwhile, until the returned
 * function is called. The copy must be observed.
 */
export function letCallsThrough(copy: PinoCopy, pass: CallPass, loggers: Iterable<NativeLogger>): () => void {
  return instrumentations.get(copy.prototype)!.interception.letThrough(pass, loggers);
}

/** Sets a level as pino does, but without new functions, and tells every observer. The copy must be observed. */
export function pushLevel(copy: PinoCopy, logger: NativeLogger, label: string): void {
  const { observers, originalSetLevel, interception } = instrumentations.get(copy.prototype)!;
  const before = logger[copy.levelValue] as number;
  const { value, methods } = levelMethods(copy, originalSetLevel, logger, label);
  logger[copy.levelValue] = value;
  for (const [key, method] of methods) logger[key] = method;
  interception.touch(logger);
  logger.emit("level-change", label, value, logger.levels.labels[before], before, logger);
  for (const observer of observers) observer.levelPushed(logger);
}

type Child = (
  this: NativeLogger,
  bindings: object,
  options?: { level?: unknown; customLevels?: unknown },
) => NativeLogger;

function instrument(copy: PinoCopy): Instrumentation {
  const { prototype, setLevel, levelValue, freezesChildren } = copy;
  const observers = new Set<PinoObserver>();
  const original = { child: prototype.child as unknown as Child, setLevel: prototype[setLevel] as SetLevel };
  let birth: "inheriting" | "own" | undefined;

  const child: Child = function child(bindings, options) {
    const own =
      options != null &&
      ((options.level !== undefined && options.level !== this.level) || Object.hasOwn(options, "customLevels"));
    const outer = birth;
    birth = own ? "own" : freezesChildren ? "inheriting" : undefined;
    let made: NativeLogger;
    try {
      made = original.child.call(this, bindings, options);
    } finally {
      birth = outer;
    }
    for (const observer of observers) observer.childMade(made, this, bindings, Object.hasOwn(made, levelValue));
    return made;
  };
  const setLevelOf: SetLevel = function (level) {
    const atBirth = birth;
    // Only the library's own call while it makes a child is meant: an `onChild` callback may set a level too.
    birth = undefined;
    if (atBirth === "inheriting") return;
    original.setLevel.call(this, level);
    if (atBirth === undefined) for (const observer of observers) observer.levelSet(this);
  };

  prototype.child = child;
  prototype[setLevel] = setLevelOf;
  const instrumentation: Instrumentation = {
    observers,
    originalSetLevel: original.setLevel,
    interception: new CallInterception(copy, original.setLevel),
    restore() {
      instrumentations.delete(prototype);
      if (prototype.child === child) prototype.child = original.child;
      if (prototype[setLevel] === setLevelOf) prototype[setLevel] = original.setLevel;
    },
  };
  instrumentations.set(prototype, instrumentation);
  return instrumentation;
}
