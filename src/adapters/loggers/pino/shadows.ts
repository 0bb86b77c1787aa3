import type { NativeLogger, PinoCopy } from "./native.ts";

/** The destination of all shadows. */
const NOWHERE = { write: () => undefined };

/**
 * Stand-ins for loggers that make a record as the logger would, with its redaction, mixins and hooks, and hand it to no destination.
 * What the application's hooks do to a shadow is done to its logger: a child of a shadow would stay silent.
 */
export class Shadows {
  readonly #stream: symbol;
  readonly #own: object;
  readonly #made = new WeakMap<NativeLogger, NativeLogger>();

  constructor({ stream, setLevel }: PinoCopy) {
    this.#stream = stream;
    const forwarded = ["child", "setBindings", "flush", setLevel].map((key) => [key, forward(key)]);
    this.#own = { [stream]: NOWHERE, ...Object.fromEntries(forwarded) };
  }

  of(logger: NativeLogger): NativeLogger {
    if (this.has(logger)) return logger;
    let shadow = this.#made.get(logger);
    if (shadow === undefined) {
      shadow = Object.assign(Object.create(logger) as NativeLogger, this.#own);
      this.#made.set(logger, shadow);
    }
    return shadow;
  }

  /** Whether an object is a shadow. */
  has(logger: NativeLogger): boolean {
    return logger[this.#stream] === NOWHERE;
  }
}

function forward(key: string | symbol) {
  return function (this: NativeLogger, ...values: unknown[]): unknown {
    const logger = Object.getPrototypeOf(this) as Record<typeof key, (...values: unknown[]) => unknown>;
    return logger[key]!(...values);
  };
}
