import { loggerPrototype, type NativeLevels, type NativeLogger } from "./native.ts";

type Method = (this: unknown, ...values: unknown[]) => unknown;
type Methods = Readonly<Record<string, Method>>;

/** What the methods of a logger look at, whenever they are called. */
export interface Gated {
  readonly logger: WeakRef<NativeLogger>;
  /** The one that owns the transports: the logger itself, or the one that it is a child of. */
  readonly root: WeakRef<NativeLogger>;
  /** What the application reads as `logger.level`. */
  readonly label: string;
  /** The values of the levels. */
  readonly values: NativeLevels;
  /** The most verbose value that gets past the methods. */
  readonly threshold: number;
  /** The most verbose value that a transport then writes. */
  readonly written: number;
  /** `logger.level = label` in the application, on this logger or on a child of it. */
  setByApplication(on: NativeLogger, label: string): void;
}

/** What stands before the methods of one logger, and how it is taken away. */
export interface MethodOverrides {
  /** The methods that write, as far as the gate stands before them. */
  readonly covered: ReadonlySet<string>;
  /** Covers the methods named for levels that the logger has got since. winston adds them after a logger is made. */
  coverLevelMethods(): void;
  /** Leaves the logger with the properties it had, and its level as it is now. */
  remove(): void;
}

/**
 * Puts the gate before the methods of a logger. winston itself builds, formats and queues every record and lets each
 * transport drop it in the end; here a disabled call returns at once. The methods stay the same ones for good and look at the
 * gate, so that a reference to one that was taken while its level was disabled comes alive with it.
 */
export function overrideMethods(gate: Gated): MethodOverrides {
  const undo: (() => void)[] = [];

  const define = (key: string, make: (methods: Methods) => PropertyDescriptor) => {
    const logger = gate.logger.deref()!;
    const before = Object.getOwnPropertyDescriptor(logger, key);
    const methods = before === undefined ? overridden(gate, logger) : { [key]: before.value };
    const ours = { configurable: true, enumerable: before?.enumerable ?? false, ...make(methods as Methods) };
    Object.defineProperty(logger, key, ours);
    undo.push(() => {
      // Held weakly: a child that only its own gate knows is to go.
      const logger = gate.logger.deref();
      if (logger === undefined) return;
      const now = Object.getOwnPropertyDescriptor(logger, key);
      // What the application has put there since is its own.
      if (now === undefined || now.value !== ours.value || now.get !== ours.get) return;
      if (before === undefined) delete logger[key];
      else Object.defineProperty(logger, key, key === "level" ? { ...before, value: gate.label } : before);
    });
  };

  define("level", () => ({
    get: () => gate.label,
    set(this: NativeLogger, label: string) {
      gate.setByApplication(this, label);
    },
  }));
  define("isLevelEnabled", () => ({
    writable: true,
    value: (label: string) => gate.values[label]! <= gate.written,
  }));
  define("log", (methods) => ({ writable: true, value: gatedLog(gate, methods) }));

  const covered = new Set(["log"]);
  const coverLevelMethods = () => {
    const logger = gate.logger.deref();
    if (logger === undefined) return;
    const methods = overridden(gate, logger) as unknown as object;
    const plain = loggerPrototype(logger);
    for (const label of Object.keys(gate.values)) {
      // winston gives each logger's own class the methods; a level may bear the name of what every stream has.
      if (covered.has(label) || label === "level" || (plain !== undefined && label in plain) || !(label in methods))
        continue;
      covered.add(label);
      define(label, (from) => ({ writable: true, value: gatedMethod(gate, from, label) }));
    }
  };
  coverLevelMethods();
  makeFast(gate);

  return {
    covered,
    coverLevelMethods,
    remove() {
      for (const step of undo.reverse()) step();
    },
  };
}

/** What a logger would inherit its methods from, were there no gates above it: a child inherits from a gated logger. */
function overridden(gate: Gated, logger: NativeLogger): NativeLogger {
  const from = gate.root === gate.logger ? logger : gate.root.deref()!;
  return Object.getPrototypeOf(from) as NativeLogger;
}

function gatedMethod(gate: Gated, methods: Methods, label: string): Method {
  return function (this: unknown, ...values) {
    if (gate.values[label]! > gate.threshold) return this ?? gate.logger.deref();
    return methods[label]!.apply(this, values);
  };
}

function gatedLog(gate: Gated, methods: Methods): Method {
  return function (this: unknown, ...values) {
    const first = values[0] as string | { readonly level: string } | undefined;
    const label = typeof first === "string" ? first : first?.level;
    if (gate.values[label as string]! > gate.threshold) return this;
    return methods.log!.apply(this, values);
  };
}

/**
 * An object of which a property was made an accessor gets a shape from V8 in which every access is slower,
 * until it is seen to serve as a prototype. A logger is one, of its children; so this shows it at once. Measured with
 * Node.js 24: an enabled call takes a fifth longer without.
 */
function makeFast(gate: Gated): void {
  const logger = gate.logger.deref();
  if (logger === undefined || gate.root !== gate.logger) return;
  const read = (child: NativeLogger) => child.levels;
  // The engine looks at what is read through a prototype from the tenth time or so.
  for (let time = 0; time < 100; time++) read(Object.create(logger) as NativeLogger);
}
