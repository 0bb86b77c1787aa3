import { described } from "../common/described.ts";
import { ActuatorError } from "../common/error.ts";
import type { AttachOptions, Detach, GraphAdapter } from "./adapter.ts";
import { AdapterHost, type HostParts } from "./adapter-host.ts";
import { Claims } from "./claims.ts";
import { withdraw } from "./declarers.ts";

/** The adapters of a graph. What each of them declares is removed when it is detached. */
export class Adapters {
  readonly #parts: HostParts;

  constructor(parts: Omit<HostParts, "claims">) {
    this.#parts = { ...parts, claims: new Claims() };
  }

  /** @throws ActuatorError INVALID_ARGUMENT if `adapter` is not an adapter. */
  attach(adapter: GraphAdapter, options: AttachOptions = {}): Detach {
    if (typeof adapter?.attach !== "function") {
      const message = `attach expects an adapter, such as amqplibSource(connection); got ${described(adapter)}`;
      throw new ActuatorError("INVALID_ARGUMENT", "INVALID_ADAPTER", message);
    }
    const { claims, elements } = this.#parts;
    const leave = claims.enter(adapter.name);
    const host = new AdapterHost(this.#parts, adapter, options);

    function end(): void {
      host.close();
      withdraw(elements, host, { nodes: new Set(), links: new Set() });
      leave();
    }

    let detach: Detach | undefined;
    try {
      detach = adapter.attach(host);
    } catch (error) {
      end();
      throw error;
    }
    return () => {
      const now = detach;
      detach = undefined;
      try {
        now?.();
      } finally {
        if (now !== undefined) end();
      }
    };
  }
}
