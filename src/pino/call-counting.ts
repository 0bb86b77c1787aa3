import { levelVerbosity } from "../loggers/level.ts";
import { levelOfRecord } from "./level.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** Hears of a call: on which logger, at which verbosity of a level, and whether the logger's level lets it through. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

type Method = (this: unknown, ...values: unknown[]) => unknown;

/** So many loggers are noted before those that the application has let go of are looked for. */
const SWEEP_AT = 1_000;

/**
 * Counts the calls of loggers of one copy of pino while somebody listens. Only loggers with methods of their own are touched:
 * those that inherit theirs call them with themselves as `this`, and so are told apart without a trace on them.
 *
 * A method is replaced by one that tells the listeners and then does the same. The replacement knows what it replaces, so
 * putting everything back needs no memory of each logger, and leaves alone what somebody has put there meanwhile. A replacement that
 * the application has kept goes on doing what the method did, and tells nobody.
 *
 * The loggers are then as they were. The engine still knows of each place in the code that ran meanwhile that it has called two
 * functions, as after a change of level that was undone: it no longer leaves out a disabled call there, which costs some
 * nanoseconds.
 */
export class CallCounting {
  readonly #copy: PinoCopy;
  /** Replacements by the method that they replace; then by verbosity, and by whether it is enabled. */
  readonly #replacements = new WeakMap<Method, Method[]>();
  readonly #replaced = new WeakMap<Method, Method>();
  #listeners: readonly CallListener[] = [];
  #known = new WeakSet<NativeLogger>();
  #wrapped: WeakRef<NativeLogger>[] = [];
  #sweepAt = SWEEP_AT;

  constructor(copy: PinoCopy) {
    this.#copy = copy;
  }

  /** Tells of every call of these loggers, and of those that are wrapped later, until the returned function is called. */
  listen(listener: CallListener, loggers: Iterable<NativeLogger>): () => void {
    this.#listeners = [...this.#listeners, listener];
    for (const logger of loggers) this.wrap(logger);
    return () => {
      if (!this.#listeners.includes(listener)) return;
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      if (this.#listeners.length === 0) this.#unwrapAll();
    };
  }

  /** To be called for a logger that was given its methods. Does nothing while nobody listens. */
  wrap(logger: NativeLogger): void {
    if (this.#listeners.length === 0 || !Object.hasOwn(logger, this.#copy.levelValue)) return;
    for (const { label, verbosity } of labelsOf(logger)) {
      const descriptor = Object.getOwnPropertyDescriptor(logger, label);
      if (typeof descriptor?.value !== "function" || !descriptor.writable) continue;
      const method = descriptor.value as Method;
      if (this.#replaced.has(method)) continue;
      logger[label] = this.#replacement(method, verbosity, isEnabled(logger, label));
    }
    this.#note(logger);
  }

  #replacement(method: Method, verbosity: number, enabled: boolean): Method {
    let known = this.#replacements.get(method);
    if (known === undefined) this.#replacements.set(method, (known = []));
    const index = 2 * verbosity + Number(enabled);
    return (known[index] ??= this.#make(method, verbosity, enabled));
  }

  #make(method: Method, verbosity: number, enabled: boolean): Method {
    const counting = this;
    function counted(this: unknown, ...values: unknown[]): unknown {
      for (const listener of counting.#listeners) listener(this, verbosity, enabled);
      return method.apply(this, values);
    }
    this.#replaced.set(counted, method);
    return counted;
  }

  #note(logger: NativeLogger): void {
    if (this.#known.has(logger)) return;
    this.#known.add(logger);
    if (this.#wrapped.push(new WeakRef(logger)) < this.#sweepAt) return;
    this.#wrapped = this.#wrapped.filter((each) => each.deref() !== undefined);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#wrapped.length);
  }

  #unwrapAll(): void {
    for (const each of this.#wrapped) {
      const logger = each.deref();
      if (logger !== undefined) this.#unwrap(logger);
    }
    this.#known = new WeakSet();
    this.#wrapped = [];
    this.#sweepAt = SWEEP_AT;
  }

  #unwrap(logger: NativeLogger): void {
    for (const { label } of labelsOf(logger)) {
      const method = Object.getOwnPropertyDescriptor(logger, label)?.value as Method | undefined;
      const replaced = method && this.#replaced.get(method);
      // Assigned, since deleting or defining would leave a slower object behind. A logger frozen meanwhile keeps its methods.
      if (replaced !== undefined) Reflect.set(logger, label, replaced);
    }
  }
}

/** A method that writes, and the verbosity of its records. */
interface Label {
  readonly label: string;
  readonly verbosity: number;
}

const knownLabels = new WeakMap<NativeLogger["levels"], readonly Label[]>();

/** The labels that some level lets through, looked up once for all loggers with the same set of levels. */
function labelsOf({ levels }: NativeLogger): readonly Label[] {
  let labels = knownLabels.get(levels);
  if (labels === undefined) {
    labels = Object.entries(levels.values).flatMap(([label, value]) => {
      const level = levelOfRecord(value);
      return level === undefined ? [] : [{ label, verbosity: levelVerbosity(level) }];
    });
    knownLabels.set(levels, labels);
  }
  return labels;
}

function isEnabled(logger: NativeLogger, label: string): boolean {
  return (logger as unknown as { isLevelEnabled(label: string): boolean }).isLevelEnabled(label);
}
