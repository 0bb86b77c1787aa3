import { WeakList } from "../../kit/loggers/weak-list.ts";
import { levelMethods, type SetLevel } from "./level-methods.ts";
import { type LevelLabel, levelOrder } from "./level-order.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";
import { Shadows } from "./shadows.ts";

/** Called for each call of a logger, with the `levelVerbosity` of the call and whether the logger lets it through. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

/**
 * Decides whether a call that the logger's level disables goes through all the same. `logger` is the `this` of the call and may
 * be anything: a disabled method does not need a logger.
 */
export type CallPass = (logger: unknown, verbosity: number) => boolean;

interface Pass {
  readonly lets: CallPass;
  /** Whether what goes through is kept from the destination. */
  readonly hides: boolean;
}

type Method = (this: unknown, ...values: unknown[]) => unknown;
type IsLevelEnabled = (this: NativeLogger, label: string) => boolean;

interface IsLevelEnabledPair {
  readonly original: IsLevelEnabled;
  readonly replacement: IsLevelEnabled;
}

type Label = LevelLabel & { readonly verbosity: number };

/**
 * Replaces level methods of one copy's loggers while there are listeners, which count calls, or passes, which let single
 * disabled calls through. Only loggers with methods of their own are touched. Loggers that inherit their methods call them with
 * themselves as `this`, so they can be told apart all the same.
 *
 * A replacement calls the listeners and then the method that it replaces or, if a pass lets the call through, the enabled
 * method, on the logger's shadow if the record is to reach no destination. With passes alone only the disabled methods are replaced. Each replacement knows what it replaces, so restoring needs
 * no memory for each logger and keeps a method that the application put there meanwhile. A replacement that the application
 * stored elsewhere keeps working as the method did.
 *
 * Afterwards the loggers are as before, but V8 has seen two functions at each call site that ran meanwhile. It no longer
 * inlines a disabled call there, which costs 4 to 5 ns, as it does in bare pino after a change of level that was undone.
 */
export class CallInterception {
  readonly shadows: Shadows;
  readonly #copy: PinoCopy;
  readonly #setLevel: SetLevel;
  /** Replacements by the method that they replace; then by label, verbosity and whether it is enabled. */
  readonly #replacements = new WeakMap<Method, Map<string, Method>>();
  readonly #replaced = new WeakMap<Method, Method>();
  #listeners: readonly CallListener[] = [];
  /** Those that hide come last. */
  #passes: readonly Pass[] = [];
  #isLevelEnabled: IsLevelEnabledPair | undefined;
  readonly #touched = new WeakList<NativeLogger>();

  constructor(copy: PinoCopy, setLevel: SetLevel) {
    this.#copy = copy;
    this.#setLevel = setLevel;
    this.shadows = new Shadows(copy);
  }

  /** Calls `listener` for every call of these loggers and of those touched later. Returns a function that stops it. */
  listen(listener: CallListener, loggers: Iterable<NativeLogger>): () => void {
    this.#listeners = [...this.#listeners, listener];
    for (const logger of loggers) this.touch(logger);
    return () => {
      if (!this.#listeners.includes(listener)) return;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      if (this.#listeners.length === 0) this.#settleAll();
    };
  }

  /** Asks `pass` at every disabled call of these loggers and of those touched later. Returns a function that stops it. */
  letThrough(pass: CallPass, loggers: Iterable<NativeLogger>): () => void {
    return this.#addPass({ lets: pass, hides: false }, loggers);
  }

  /** As {@link letThrough}, but what only such passes let through reaches no destination. */
  hide(pass: CallPass, loggers: Iterable<NativeLogger>): () => void {
    return this.#addPass({ lets: pass, hides: true }, loggers);
  }

  #addPass(pass: Pass, loggers: Iterable<NativeLogger>): () => void {
    this.#passes = [...this.#passes, pass].sort((one, other) => Number(one.hides) - Number(other.hides));
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

  /** Replaces the methods of a logger that was given new ones. Does nothing without listeners and passes. */
  touch(logger: NativeLogger): void {
    if (this.#isIdle || !Object.hasOwn(logger, this.#copy.levelValue)) return;
    this.#settle(logger);
    this.#touched.add(logger);
  }

  /** The method that a replacement stands for, or the method itself. */
  intercepted(method: unknown): unknown {
    return this.#replaced.get(method as Method) ?? method;
  }

  get #isIdle(): boolean {
    return this.#listeners.length === 0 && this.#passes.length === 0;
  }

  /** Gives a logger the methods that the current listeners and passes require. */
  #settle(logger: NativeLogger): void {
    for (const label of this.#labelsOf(logger)) {
      const descriptor = Object.getOwnPropertyDescriptor(logger, label.label);
      if (typeof descriptor?.value !== "function") continue;
      const present = descriptor.value as Method;
      const method = this.#replaced.get(present) ?? present;
      const wanted =
        this.#listeners.length > 0 || (this.#passes.length > 0 && method === logger.silent)
          ? this.#replacement(logger, method, label)
          : method;
      // Assigned, because deleting or defining a property would make the object slower. A frozen logger keeps its methods.
      if (wanted !== present) Reflect.set(logger, label.label, wanted);
    }
  }

  #replacement(logger: NativeLogger, method: Method, label: Label): Method {
    let known = this.#replacements.get(method);
    if (known === undefined) this.#replacements.set(method, (known = new Map()));
    const enabled = this.#isEnabled(logger, label.label);
    const key = `${label.verbosity} ${label.label} ${enabled}`;
    let replacement = known.get(key);
    if (replacement === undefined) known.set(key, (replacement = this.#make(method, label, enabled)));
    return replacement;
  }

  #make(method: Method, { label, verbosity }: Label, enabled: boolean): Method {
    const interception = this;
    // Most applications have one root. Looking the method up each time would cost more than the rest.
    let levels: NativeLogger["levels"] | undefined;
    let lifted: Method;
    function intercepted(this: unknown, ...values: unknown[]): unknown {
      const pass = enabled ? undefined : interception.#passOf(this, verbosity);
      const written = enabled || pass?.hides === false;
      for (const listener of interception.#listeners) listener(this, verbosity, written);
      const logger = this as NativeLogger;
      // `silent` is pino's noop. If the application replaced a disabled method, its replacement is called.
      if (pass === undefined || method !== logger.silent) return method.apply(this, values);
      if (logger.levels !== levels) {
        levels = logger.levels;
        lifted = interception.#enabledMethod(logger, label);
      }
      if (!pass.hides) return lifted.apply(logger, values);
      try {
        lifted.apply(interception.shadows.of(logger), values);
      } catch {
        // A serializer or hook failed for a record that the application would not have made.
      }
      return undefined;
    }
    this.#replaced.set(intercepted, method);
    return intercepted;
  }

  #passOf(logger: unknown, verbosity: number): Pass | undefined {
    for (const pass of this.#passes) if (pass.lets(logger, verbosity)) return pass;
    return undefined;
  }

  #enabledMethod(logger: NativeLogger, label: string): Method {
    const { labels, methods } = levelMethods(this.#copy, this.#setLevel, logger, label);
    return methods[labels.indexOf(label)] as Method;
  }

  /** The labels whose calls are counted or let through. */
  #labelsOf(logger: NativeLogger): readonly Label[] {
    return levelOrder(this.#copy, logger).labels.filter((label): label is Label => label.verbosity !== undefined);
  }

  #isEnabled(logger: NativeLogger, label: string): boolean {
    const isLevelEnabled = this.#isLevelEnabled?.original ?? (logger.isLevelEnabled as IsLevelEnabled);
    return isLevelEnabled.call(logger, label);
  }

  /** Answers code that asks before it builds an expensive record as its call would be. */
  #replaceIsLevelEnabled(): IsLevelEnabledPair {
    const { prototype } = this.#copy;
    const interception = this;
    const original = prototype.isLevelEnabled as IsLevelEnabled;
    const replacement: IsLevelEnabled = function isLevelEnabled(label) {
      if (original.call(this, label)) return true;
      const known = interception.#labelsOf(this).find((other) => other.label === label);
      return known !== undefined && interception.#passOf(this, known.verbosity) !== undefined;
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

  /** Called when the last listener or the last pass has gone. */
  #settleAll(): void {
    for (const logger of this.#touched) this.#settle(logger);
    if (this.#isIdle) this.#touched.clear();
  }
}
