import type { WatchingAdapter } from "../adapters/kit/messaging/watching-adapter.ts";
import type { ActuatorError } from "../common/error.ts";
import type { Findings } from "./library.ts";

/** Why an adapter refuses an object that it need not watch: another adapter does, or it is nothing that sends or receives. */
const LEFT_ALONE: ReadonlySet<string | undefined> = new Set(["ALREADY_WATCHED", "INVALID_TARGET"]);

/** Gives the objects of a library, of all its copies, to one adapter, which is attached with the first of them. */
export class GraphObjects<T extends object> {
  readonly #make: () => WatchingAdapter<T>;
  readonly #adapters = new WeakMap<Findings, WatchingAdapter<T>>();

  constructor(make: () => WatchingAdapter<T>) {
    this.#make = make;
  }

  /** Watches an object, unless an adapter of the application does. Returns whether it is watched now that was not before. */
  watch(object: T, findings: Findings): boolean {
    let adapter = this.#adapters.get(findings);
    try {
      if (adapter === undefined) {
        adapter = this.#make();
        // Not attached for what it refuses.
        adapter.unwatch(adapter.watch(object));
        findings.messaging(adapter);
        this.#adapters.set(findings, adapter);
      }
      adapter.watch(object);
      return true;
    } catch (error) {
      if (LEFT_ALONE.has((error as Partial<ActuatorError>).reason)) return false;
      throw error;
    }
  }

  /** Leaves an object as it was. */
  unwatch(object: T, findings: Findings): void {
    this.#adapters.get(findings)?.unwatch(object);
  }
}
