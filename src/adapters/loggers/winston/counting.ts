import type { LevelSet } from "./level-set.ts";
import type { NativeLogger } from "./native.ts";

/** Hears of a call: on which logger, at which verbosity of a level, and whether it gets past the gate. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

/** A logger whose calls are counted. */
export interface Counted {
  readonly logger: WeakRef<NativeLogger>;
  /** The most verbose value of a level that gets past the methods. */
  readonly threshold: number;
  /** The logger with its children. */
  readonly group: { readonly levels: LevelSet; readonly listeners: readonly CallListener[] };
}

type Method = (this: unknown, ...values: unknown[]) => unknown;

interface Call {
  readonly on: Counted;
  readonly label: string;
}

/** The call that is under way and not yet in `log`, through which most of winston's methods named for levels go on. */
let underWay: Call | undefined;

/**
 * Counts what is called on a logger, and on those that inherit from it: each method is replaced by one that tells
 * the listeners and then does the same. A method that the application has taken before goes on unseen; one that it has taken
 * meanwhile does what it did.
 */
export class CallCounting {
  readonly #on: Counted;
  readonly #counted = new Map<string, { readonly method: Method; readonly counting: Method }>();

  constructor(on: Counted) {
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
      // Assigned, since deleting or defining would leave a slower object behind.
      logger[key] = counting;
    }
  }

  /** Puts the methods back, but for what somebody has put there meanwhile. */
  end(): void {
    const logger = this.#on.logger.deref();
    for (const [key, { method, counting }] of this.#counted) {
      const now = logger && Object.getOwnPropertyDescriptor(logger, key);
      if (now?.value === counting && now.writable === true) logger![key] = method;
    }
    this.#counted.clear();
  }
}

function countingMethod(on: Counted, method: Method, label: string): Method {
  return function (this: unknown, ...values) {
    if (isUnderWay(on, label)) return method.apply(this, values);
    tell(on, this, label);
    const outer = underWay;
    underWay = { on, label };
    try {
      return method.apply(this, values);
    } finally {
      underWay = outer;
    }
  };
}

function countingLog(on: Counted, method: Method): Method {
  return function (this: unknown, ...values) {
    const first = values[0] as string | { readonly level: string } | undefined;
    const label = typeof first === "string" ? first : first?.level;
    if (label === undefined || !isUnderWay(on, label)) tell(on, this, label);
    // A format or a transport that logs is called from here.
    else underWay = undefined;
    return method.apply(this, values);
  };
}

function isUnderWay(on: Counted, label: string): boolean {
  return underWay?.on === on && underWay.label === label;
}

function tell(on: Counted, logger: unknown, label: string | undefined): void {
  const { listeners, levels } = on.group;
  if (label === undefined) return;
  const verbosity = levels.verbosity(label);
  if (verbosity === undefined) return;
  const enabled = levels.values[label]! <= on.threshold;
  for (const listener of listeners)
    listener((logger as NativeLogger | undefined) ?? on.logger.deref(), verbosity, enabled);
}
