import type { CallTally } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import type { CallListener } from "./counting.ts";
import type { Family } from "./family.ts";
import type { WinstonHandle } from "./handle.ts";
import type { NativeLogger } from "./native.ts";

/** So many families are noted before those that the application has let go of are looked for. */
const SWEEP_AT = 1_000;

/** Counts the calls of loggers for one measurement, until it is ended. */
export class CallListening {
  readonly #listener: CallListener;
  readonly #known = new WeakSet<Family>();
  /** Held weakly: a logger made for one request goes when the request does. */
  #families: WeakRef<Family>[] = [];
  #sweepAt = SWEEP_AT;

  /** `followed`: the logger held for which the calls of one count. `tallyOf`: where those of a name are counted. */
  constructor(
    followed: (logger: NativeLogger | undefined) => WinstonHandle | undefined,
    tallyOf: (name: string) => CallTally | undefined,
  ) {
    const count = callCounter<WinstonHandle>(tallyOf);
    this.#listener = (logger, verbosity, enabled) =>
      count(followed(logger as NativeLogger | undefined), verbosity, enabled);
  }

  /** Listens to these loggers too, those of them that come later included. */
  add(family: Family): void {
    if (this.#known.has(family)) return;
    this.#known.add(family);
    family.setListeners([...family.listeners, this.#listener]);
    if (this.#families.push(new WeakRef(family)) < this.#sweepAt) return;
    this.#families = this.#families.filter((each) => each.deref() !== undefined);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#families.length);
  }

  /** Listens no more: where nobody else does, the loggers are as they were. */
  end(): void {
    for (const each of this.#families) {
      const family = each.deref();
      family?.setListeners(family.listeners.filter((listener) => listener !== this.#listener));
    }
    this.#families = [];
  }
}
