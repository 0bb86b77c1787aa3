import type { Gate } from "./gate.ts";
import type { NativeLogger } from "./native.ts";

/** Hears of a call: on which logger, at which verbosity of a level, and whether it gets past the gate. */
export type CallListener = (logger: unknown, verbosity: number, enabled: boolean) => void;

type Method = (this: unknown, ...values: unknown[]) => unknown;

interface Call {
  readonly gate: Gate;
  readonly label: string;
}

/** The call that is under way and not yet in `log`, through which most of winston's methods named for levels go on. */
let underWay: Call | undefined;

/**
 * Counts what is called on the logger of a gate, and on those that inherit from it: each method is replaced by one that tells
 * the listeners and then does the same. A method that the application has taken before goes on unseen; one that it has taken
 * meanwhile does what it did.
 */
export class CallCounting {
  readonly #gate: Gate;
  readonly #counted = new Map<string, { readonly method: Method; readonly counting: Method }>();

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Counts calls of these methods too. */
  cover(keys: Iterable<string>): void {
    const logger = this.#gate.logger.deref();
    if (logger === undefined) return;
    for (const key of keys) {
      const now = Object.getOwnPropertyDescriptor(logger, key);
      if (this.#counted.has(key) || typeof now?.value !== "function" || now.writable !== true) continue;
      const method = now.value as Method;
      const counting = key === "log" ? countingLog(this.#gate, method) : countingMethod(this.#gate, method, key);
      this.#counted.set(key, { method, counting });
      // Assigned, since deleting or defining would leave a slower object behind.
      logger[key] = counting;
    }
  }

  /** Puts the methods back, but for what somebody has put there meanwhile. */
  end(): void {
    const logger = this.#gate.logger.deref();
    for (const [key, { method, counting }] of this.#counted) {
      const now = logger && Object.getOwnPropertyDescriptor(logger, key);
      if (now?.value === counting && now.writable === true) logger![key] = method;
    }
    this.#counted.clear();
  }
}

function countingMethod(gate: Gate, method: Method, label: string): Method {
  return function (this: unknown, ...values) {
    if (isUnderWay(gate, label)) return method.apply(this, values);
    tell(gate, this, label);
    const outer = underWay;
    underWay = { gate, label };
    try {
      return method.apply(this, values);
    } finally {
      underWay = outer;
    }
  };
}

function countingLog(gate: Gate, method: Method): Method {
  return function (this: unknown, ...values) {
    const first = values[0] as string | { readonly level: string } | undefined;
    const label = typeof first === "string" ? first : first?.level;
    if (label === undefined || !isUnderWay(gate, label)) tell(gate, this, label);
    // A format or a transport that logs is called from here.
    else underWay = undefined;
    return method.apply(this, values);
  };
}

function isUnderWay(gate: Gate, label: string): boolean {
  return underWay?.gate === gate && underWay.label === label;
}

function tell(gate: Gate, logger: unknown, label: string | undefined): void {
  const { listeners, levels } = gate.family;
  if (label === undefined) return;
  const verbosity = levels.verbosity(label);
  if (verbosity === undefined) return;
  const enabled = levels.values[label]! <= gate.threshold;
  for (const listener of listeners)
    listener((logger as NativeLogger | undefined) ?? gate.logger.deref(), verbosity, enabled);
}
