import { levelVerbosity } from "../../../loggers/level.ts";
import { levelOfRecord } from "./level.ts";
import { levelMethods, type SetLevel } from "./level-methods.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** Hears of a call: on which logger, at which verbosity of a level, and whether it is let through. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

/**
 * Says of a call that the logger's level does not let through whether it is let through all the same. What it is called on may
 * be no logger: a disabled method needs none.
 */
export type CallPass = (logger: unknown, verbosity: number) => boolean;

type Method = (this: unknown, ...values: unknown[]) => unknown;
type IsLevelEnabled = (this: NativeLogger, label: string) => boolean;

interface IsLevelEnabledPair {
  readonly original: IsLevelEnabled;
  readonly replacement: IsLevelEnabled;
}

/** So many loggers are noted before those that the application has let go of are looked for. */
const SWEEP_AT = 1_000;

/**
 * Counts the calls of loggers of one copy of pino while somebody listens, and lets single disabled calls through while somebody
 * has a pass. Only loggers with methods of their own are touched: those that inherit theirs call them with themselves as
 * `this`, and so are told apart without a trace on them.
 *
 * A method is replaced by one that tells the listeners and then does the same, or what the enabled method does. Where there are
 * passes only, just the disabled methods are. The replacement knows what it replaces, so putting everything back needs no memory
 * of each logger, and leaves alone what somebody has put there meanwhile. A replacement that the application has kept goes on
 * doing what the method did, and tells nobody.
 *
 * The loggers are then as they were. The engine still knows of each place in the code that ran meanwhile that it has called two
 * functions, as after a change of level that was undone: it no longer leaves out a disabled call there, which costs some
 * nanoseconds.
 */
export class CallInterception {
  readonly #copy: PinoCopy;
  readonly #setLevel: SetLevel;
  /** Replacements by the method that they replace; then by the key of a label. */
  readonly #replacements = new WeakMap<Method, Map<string, Method>>();
  readonly #replaced = new WeakMap<Method, Method>();
  #listeners: readonly CallListener[] = [];
  #passes: readonly CallPass[] = [];
  #isLevelEnabled: IsLevelEnabledPair | undefined;
  #known = new WeakSet<NativeLogger>();
  #touched: WeakRef<NativeLogger>[] = [];
  #sweepAt = SWEEP_AT;

  constructor(copy: PinoCopy, setLevel: SetLevel) {
    this.#copy = copy;
    this.#setLevel = setLevel;
  }

  /** Tells of every call of these loggers, and of those that are touched later, until the returned function is called. */
  listen(listener: CallListener, loggers: Iterable<NativeLogger>): () => void {
    this.#listeners = [...this.#listeners, listener];
    for (const logger of loggers) this.touch(logger);
    return () => {
      if (!this.#listeners.includes(listener)) return;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      if (this.#listeners.length === 0) this.#settleAll();
    };
  }

  /** Asks at every disabled call of these loggers, and of those that are touched later, until the returned function is called. */
  letThrough(pass: CallPass, loggers: Iterable<NativeLogger>): () => void {
    this.#passes = [...this.#passes, pass];
    this.#isLevelEnabled ??= this.#replaceIsLevelEnabled();
    for (const logger of loggers) this.touch(logger);
    return () => {
      if (!this.#passes.includes(pass)) return;
      this.#passes = this.#passes.filter((other) => other !== pass);
      if (this.#passes.length > 0) return;
      this.#restoreIsLevelEnabled();
      this.#settleAll();
    };
  }

  /** To be called for a logger that was given its methods. Does nothing while nobody listens or has a pass. */
  touch(logger: NativeLogger): void {
    if (this.#isIdle || !Object.hasOwn(logger, this.#copy.levelValue)) return;
    this.#settle(logger);
    this.#note(logger);
  }

  get #isIdle(): boolean {
    return this.#listeners.length === 0 && this.#passes.length === 0;
  }

  /** Gives a logger the methods that it is to have now. */
  #settle(logger: NativeLogger): void {
    const silent = this.#passes.length > 0 ? this.#methodsOf(logger, "silent") : undefined;
    for (const label of labelsOf(logger)) {
      const descriptor = Object.getOwnPropertyDescriptor(logger, label.label);
      if (typeof descriptor?.value !== "function") continue;
      const present = descriptor.value as Method;
      const method = this.#replaced.get(present) ?? present;
      const wanted =
        this.#listeners.length > 0 || method === silent?.get(label.label)
          ? this.#replacement(logger, method, label)
          : method;
      // Assigned, since deleting or defining would leave a slower object behind. A frozen logger keeps its methods.
      if (wanted !== present) Reflect.set(logger, label.label, wanted);
    }
  }

  #replacement(logger: NativeLogger, method: Method, label: Label): Method {
    let known = this.#replacements.get(method);
    if (known === undefined) this.#replacements.set(method, (known = new Map()));
    const enabled = this.#isEnabled(logger, label.label);
    const key = enabled ? label.enabledKey : label.disabledKey;
    let replacement = known.get(key);
    if (replacement === undefined) known.set(key, (replacement = this.#make(method, label, enabled)));
    return replacement;
  }

  #make(method: Method, { label, verbosity }: Label, enabled: boolean): Method {
    const interception = this;
    function intercepted(this: unknown, ...values: unknown[]): unknown {
      const through = !enabled && interception.#letsThrough(this, verbosity);
      for (const listener of interception.#listeners) listener(this, verbosity, enabled || through);
      if (!through) return method.apply(this, values);
      const logger = this as NativeLogger;
      // What the application has put in the place of a disabled method is what it wants to be called.
      const isSilent = method === interception.#methodsOf(logger, "silent").get(label);
      const lifted = isSilent ? (interception.#methodsOf(logger, label).get(label) as Method) : method;
      return lifted.apply(this, values);
    }
    this.#replaced.set(intercepted, method);
    return intercepted;
  }

  #letsThrough(logger: unknown, verbosity: number): boolean {
    for (const pass of this.#passes) if (pass(logger, verbosity)) return true;
    return false;
  }

  /** The methods that a logger of this kind has at a level: where that disables one, it is what pino puts in place of all of them. */
  #methodsOf(logger: NativeLogger, level: string): ReadonlyMap<string, unknown> {
    return levelMethods(this.#copy, this.#setLevel, logger, level).byLabel;
  }

  #isEnabled(logger: NativeLogger, label: string): boolean {
    const isLevelEnabled = this.#isLevelEnabled?.original ?? (logger.isLevelEnabled as IsLevelEnabled);
    return isLevelEnabled.call(logger, label);
  }

  /** Code that asks before it makes a costly record is answered as its call would be. */
  #replaceIsLevelEnabled(): IsLevelEnabledPair {
    const { prototype } = this.#copy;
    const interception = this;
    const original = prototype.isLevelEnabled as IsLevelEnabled;
    const replacement: IsLevelEnabled = function isLevelEnabled(label) {
      if (original.call(this, label)) return true;
      const known = labelsOf(this).find((other) => other.label === label);
      return known !== undefined && interception.#letsThrough(this, known.verbosity);
    };
    prototype.isLevelEnabled = replacement;
    return { original, replacement };
  }

  #restoreIsLevelEnabled(): void {
    const { prototype } = this.#copy;
    const { original, replacement } = this.#isLevelEnabled!;
    if (prototype.isLevelEnabled === replacement) prototype.isLevelEnabled = original;
    this.#isLevelEnabled = undefined;
  }

  #note(logger: NativeLogger): void {
    if (this.#known.has(logger)) return;
    this.#known.add(logger);
    if (this.#touched.push(new WeakRef(logger)) < this.#sweepAt) return;
    this.#touched = this.#touched.filter((each) => each.deref() !== undefined);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#touched.length);
  }

  /** To be called where nobody listens any more, or nobody has a pass any more. */
  #settleAll(): void {
    for (const each of this.#touched) {
      const logger = each.deref();
      if (logger !== undefined) this.#settle(logger);
    }
    if (!this.#isIdle) return;
    this.#known = new WeakSet();
    this.#touched = [];
    this.#sweepAt = SWEEP_AT;
  }
}

/** A method that writes, and the verbosity of its records. */
interface Label {
  readonly label: string;
  readonly verbosity: number;
  readonly enabledKey: string;
  readonly disabledKey: string;
}

const knownLabels = new WeakMap<NativeLogger["levels"], readonly Label[]>();

/** The labels that some level lets through, looked up once for all loggers with the same set of levels. */
function labelsOf({ levels }: NativeLogger): readonly Label[] {
  let labels = knownLabels.get(levels);
  if (labels === undefined) {
    labels = Object.entries(levels.values).flatMap(([label, value]) => {
      const level = levelOfRecord(value);
      if (level === undefined) return [];
      const verbosity = levelVerbosity(level);
      const key = `${verbosity} ${label}`;
      return [{ label, verbosity, enabledKey: `${key} enabled`, disabledKey: `${key} disabled` }];
    });
    knownLabels.set(levels, labels);
  }
  return labels;
}
