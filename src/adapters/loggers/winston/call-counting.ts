import type { LevelSet } from "./level-set.ts";
import type { NativeLogger } from "./native.ts";

/** Called for each call of a logger, with the `levelVerbosity` of the call and whether the level lets it through. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

/** A logger whose calls are counted. */
export interface CountedLogger {
  readonly logger: WeakRef<NativeLogger>;
  /** The value of the most verbose level that the logger lets through. */
  readonly threshold: number;
  /** The logger with its children. */
  readonly group: { readonly levels: LevelSet; readonly listeners: readonly CallListener[] };
}

type Method = (this: unknown, ...values: unknown[]) => unknown;

interface Call {
  readonly on: CountedLogger;
  readonly label: string;
}

/** The call of a level method that has not reached `log` yet; most of winston's level methods end up there. */
let underWay: Call | undefined;

/**
 * Counts the calls of a logger and of loggers that inherit its methods. Each method is replaced by one that calls the listeners
 * first. A method that the application stored before goes uncounted; a replacement that it stored keeps working.
 */
export class CallCounting {
  readonly #on: CountedLogger;
  readonly #counted = new Map<string, { readonly method: Method; readonly counting: Method }>();

  constructor(on: CountedLogger) {
    this.#on = on;
  }

  /** Counts calls of these methods too. */
  cover(keys: Iterable<string>): void {
    const logger = this.#on.logger.deref();
    if (logger === undefined) return;
    for (const key of keys) {
      const now = Object.getOwnPropertyDescriptor(logger, key);
      if (this.#counted.has(key) || typeof now?.value !== "function" || now.writable !== true) continue;
      const method = now.value as Method;
      const counting = key === "log" ? countingLog(this.#on, method) : countingMethod(this.#on, method, key);
      this.#counted.set(key, { method, counting });
      // Assigned, because deleting or defining a property would make the object slower.
      logger[key] = counting;
    }
  }

  /** Puts the original methods back, except where the application has put its own meanwhile. */
  end(): void {
    const logger = this.#on.logger.deref();
    for (const [key, { method, counting }] of this.#counted) {
      const now = logger && Object.getOwnPropertyDescriptor(logger, key);
      if (now?.value === counting && now.writable === true) logger![key] = method;
    }
    this.#counted.clear();
  }
}

function countingMethod(on: CountedLogger, method: Method, label: string): Method {
  return function (this: unknown, ...values) {
    if (isUnderWay(on, label)) return method.apply(this, values);
    count(on, this, label);
    const outer = underWay;
    underWay = { on, label };
    try {
      return method.apply(this, values);
    } finally {
      underWay = outer;
    }
  };
}

function countingLog(on: CountedLogger, method: Method): Method {
  return function (this: unknown, ...values) {
    const label = labelOfLogCall(values[0]);
    if (label === undefined || !isUnderWay(on, label)) count(on, this, label);
    // From here on a format or a transport may log by itself.
    else underWay = undefined;
    return method.apply(this, values);
  };
}

/** The level of a call of `log`, which takes a level or a whole record first. */
export function labelOfLogCall(first: unknown): string | undefined {
  return typeof first === "string" ? first : (first as { readonly level: string } | undefined)?.level;
}

function isUnderWay(on: CountedLogger, label: string): boolean {
  return underWay?.on === on && underWay.label === label;
}

function count(on: CountedLogger, logger: unknown, label: string | undefined): void {
  const { listeners, levels } = on.group;
  if (label === undefined) return;
  const verbosity = levels.verbosity(label);
  if (verbosity === undefined) return;
  const enabled = levels.values[label]! <= on.threshold;
  for (const listener of listeners) listener(logger ?? on.logger.deref(), verbosity, enabled);
}
