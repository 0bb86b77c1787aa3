import type { CallTally } from "../../../loggers/adapter.ts";
import { callCounter } from "../../../loggers/call-counter.ts";
import type { CallListener } from "./counting.ts";
import type { WinstonHandle } from "./handle.ts";
import type { NativeLogger } from "./native.ts";
import type { TransportGroup } from "./transport-group.ts";

/** So many groups are noted before those that the application has let go of are looked for. */
const SWEEP_AT = 1_000;

/** Counts the calls of loggers for one measurement, until it is ended. */
export class CallListening {
  readonly #listener: CallListener;
  readonly #known = new WeakSet<TransportGroup>();
  /** Held weakly: a logger made for one request goes when the request does. */
  #groups: WeakRef<TransportGroup>[] = [];
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
  add(group: TransportGroup): void {
    if (this.#known.has(group)) return;
    this.#known.add(group);
    group.setListeners([...group.listeners, this.#listener]);
    if (this.#groups.push(new WeakRef(group)) < this.#sweepAt) return;
    this.#groups = this.#groups.filter((each) => each.deref() !== undefined);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#groups.length);
  }

  /** Listens no more: where nobody else does, the loggers are as they were. */
  end(): void {
    for (const each of this.#groups) {
      const group = each.deref();
      group?.setListeners(group.listeners.filter((listener) => listener !== this.#listener));
    }
    this.#groups = [];
  }
}
