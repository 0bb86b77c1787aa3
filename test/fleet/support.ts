import { onTestFinished } from "vitest";
import type { FleetEngine, FleetEngineSource } from "../../src/fleet/engine.ts";
import { Fleet } from "../../src/fleet/fleet.ts";
import type { FleetOptions } from "../../src/fleet/options.ts";
import { FleetRegister } from "../../src/fleet/register.ts";
import { Loggers } from "../../src/loggers/loggers.ts";

/** A server in this process that can be taken away, forget everything and lose hints. It stands for a real one where time matters. */
export class TestServer {
  register: FleetRegister;
  /** How calls end: answered, refused, or never. */
  answers: "all" | "none" | "never" = "all";
  /** Whether hints reach the instances. */
  hints = true;
  resets = 0;
  /** Added to the clock, in milliseconds. */
  ahead = 0;
  /** What changes wait for before they are stored. */
  gate: Promise<unknown> | undefined;
  #listeners = new Set<(hint?: string) => void>();

  constructor() {
    this.register = this.#fresh();
  }

  /** Loses everything, as after a restart without persistence. */
  forget(): void {
    this.register = this.#fresh();
  }

  source(beatMs = 40): FleetEngineSource {
    return { kind: "test", open: () => this.#open(beatMs) };
  }

  #fresh(): FleetRegister {
    const register = new FleetRegister(() => Date.now() + this.ahead);
    register.onHint((hint) => {
      if (this.hints) for (const listener of this.#listeners) queueMicrotask(() => listener(hint));
    });
    return register;
  }

  #open(beatMs: number): FleetEngine {
    let listening: ((hint?: string) => void) | undefined;
    const call = async <T>(answer: () => T): Promise<T> => {
      if (this.answers === "never") return new Promise<T>(() => undefined);
      if (this.answers === "none") throw new Error("connection refused");
      return answer();
    };
    return {
      kind: "test",
      beatMs,
      exchange: (version, report) => call(() => this.register.exchange(version, report)),
      store: async (next, version, hint) => {
        await this.gate;
        return call(() => this.register.store(next, version, hint));
      },
      instances: () => call(() => this.register.instances()),
      onHint: (listener) => {
        listening = listener;
        this.#listeners.add(listener);
      },
      reset: async () => void this.resets++,
      close: async (id) => {
        if (listening !== undefined) this.#listeners.delete(listening);
        if (id !== undefined) this.register.remove(id);
      },
    };
  }
}

export interface Instance {
  readonly fleet: Fleet;
  readonly loggers: Loggers;
}

/** Starts an instance. */
export function instanceOf(
  server: TestServer,
  id: string,
  { loggers = new Loggers({ instance: id }), ...more }: FleetOptions & { loggers?: Loggers } = {},
): Instance {
  const options = { engine: server.source(), name: "shop", ...more };
  const fleet = new Fleet(options, { name: "shop", version: "1", startTime: Date.now(), loggers, ttl: {} });
  onTestFinished(() => fleet.close());
  return { fleet, loggers };
}
