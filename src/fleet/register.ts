import { ActuatorError } from "../common/error.ts";
import type { Exchanged, FleetDocument, FleetEngine, FleetEngineSource, Report, SeenReport } from "./engine.ts";

const NOTHING: FleetDocument = { version: "", text: "" };
/** How long a report is kept after the last beat of its instance. */
const KEEP_MS = 60_000;
const MAX_FLEETS = 100;
const MAX_REPORTS = 10_000;
/** Of the reports of a fleet, in UTF-16 code units. */
const MAX_REPORTED = 8 * 1024 * 1024;

/** What an engine keeps for one fleet, in the memory of this process. It is lost with the process. */
export class FleetRegister {
  readonly #reports = new Map<string, SeenReport>();
  readonly #listeners = new Set<(hint?: string) => void>();
  readonly #now: () => number;
  #document = NOTHING;
  #length = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** As {@link FleetEngine.exchange}. */
  exchange(version: string, report?: Report): Exchanged {
    const now = this.#now();
    if (report !== undefined) this.#keep({ ...report, seen: now });
    return { now, document: this.#document.version === version ? undefined : this.#document };
  }

  /** As {@link FleetEngine.store}. */
  store(next: FleetDocument, version: string, hint: string): boolean {
    if (this.#document.version !== version) return false;
    this.#document = next;
    for (const listener of this.#listeners) listener(hint);
    return true;
  }

  /** As {@link FleetEngine.instances}. */
  instances(): readonly SeenReport[] {
    const oldest = this.#now() - KEEP_MS;
    for (const [id, { seen }] of this.#reports) if (seen < oldest) this.remove(id);
    return [...this.#reports.values()];
  }

  /** Calls `listener` when the document has changed. Returns a function that removes it. */
  onHint(listener: (hint?: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #keep(report: SeenReport): void {
    const before = this.#reports.get(report.id);
    const grown = report.text.length - (before?.text.length ?? 0);
    if (before === undefined && this.#reports.size >= MAX_REPORTS) this.instances();
    if ((before === undefined && this.#reports.size >= MAX_REPORTS) || this.#length + grown > MAX_REPORTED) {
      const message = `A fleet may have at most ${MAX_REPORTS} instances, whose reports have at most ${MAX_REPORTED} characters together.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_INSTANCES", message);
    }
    this.#length += grown;
    this.#reports.set(report.id, report);
  }

  /** Whether it has nothing that could be lost. */
  get isEmpty(): boolean {
    return this.#document === NOTHING && this.#listeners.size === 0 && this.instances().length === 0;
  }

  /** Removes the report of an instance. */
  remove(id: string): void {
    this.#length -= this.#reports.get(id)?.text.length ?? 0;
    this.#reports.delete(id);
  }
}

/** Fleets in the memory of one process. */
export interface FleetRegisters extends FleetEngineSource {
  /**
   * What is kept for a fleet.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED beyond 100 fleets
   */
  register(fleet: string): FleetRegister;
}

/**
 * Fleets within one process: for tests, for an application that tries the fleet without a server, and for the one process that keeps
 * fleets for others (option `fleetEngine`).
 *
 * @example
 * ```ts
 * const actuator = createActuator({ name: "shop", fleet: memoryFleet() });
 * ```
 */
export function memoryFleet(): FleetRegisters {
  const registers = new Map<string, FleetRegister>();
  function register(fleet: string): FleetRegister {
    let found = registers.get(fleet);
    if (found !== undefined) return found;
    if (registers.size >= MAX_FLEETS) {
      for (const [name, { isEmpty }] of registers) if (isEmpty) registers.delete(name);
    }
    if (registers.size >= MAX_FLEETS) {
      const message = `At most ${MAX_FLEETS} fleets are kept.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_FLEETS", message);
    }
    found = new FleetRegister();
    registers.set(fleet, found);
    return found;
  }
  return { kind: "memory", register, open: (fleet) => engineOver(register(fleet)) };
}

function engineOver(register: FleetRegister): FleetEngine {
  let forget = () => {};
  return {
    kind: "memory",
    exchange: async (version, report) => register.exchange(version, report),
    store: async (next, version, hint) => register.store(next, version, hint),
    instances: async () => register.instances(),
    onHint(listener) {
      forget = register.onHint((hint) => queueMicrotask(() => listener(hint)));
    },
    reset: async () => undefined,
    async close(id) {
      forget();
      if (id !== undefined) register.remove(id);
    },
  };
}
