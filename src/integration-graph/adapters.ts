import type { Detach, GraphAdapter } from "./adapter.ts";
import { AdapterHost, type HostParts } from "./adapter-host.ts";
import { Claims } from "./claims.ts";
import { withdraw } from "./declarers.ts";

/** The adapters of a graph. What each of them declares goes when it is detached. */
export class Adapters {
  readonly #parts: HostParts;

  constructor(parts: Omit<HostParts, "claims">) {
    this.#parts = { ...parts, claims: new Claims() };
  }

  attach(adapter: GraphAdapter): Detach {
    const { claims, elements } = this.#parts;
    const leave = claims.enter(adapter.name);
    const host = new AdapterHost(this.#parts, adapter.name);

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
