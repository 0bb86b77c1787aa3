import { hostname } from "node:os";
import { ActuatorError } from "../common/error.ts";
import { instanceName } from "../common/instance.ts";
import { checkRequest, holdTtlFor, ttlFor } from "../loggers/change-request.ts";
import { checkLevel, type Level } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { loggerName } from "../loggers/name.ts";
import type { TtlOptions } from "../loggers/options.ts";
import { type CanaryRequest, chosen, type FinishRequest, type FleetCanary, finished, promotionOf } from "./canary.ts";
import type { FleetEngine } from "./engine.ts";
import { byGeneration, type FleetEntry, isLive, lifeOf, type NewEntry } from "./entry.ts";
import {
  type FleetInstance,
  type InstanceReport,
  type InstanceStatus,
  instanceOf,
  labelsOf,
  type ReadReport,
  readReports,
  statusesOf,
} from "./instance.ts";
import { FleetLease, leaseEnd, leaseSlot } from "./lease.ts";
import { FleetLevels } from "./levels.ts";
import { FleetMember } from "./member.ts";
import { type ActuatorFleetOptions, isFleetName } from "./options.ts";
import { ReportWatch } from "./report-watch.ts";
import type { FleetHoldRequest, FleetRequest, FleetSetRequest } from "./request.ts";
import { labelValueFault, matches, selectorOf, selectorOfInstances } from "./selector.ts";
import { prune } from "./state.ts";

/** A change of the fleet, and how far it has come. */
export interface FleetChange {
  readonly entry: FleetEntry;
  readonly instances: readonly InstanceStatus[];
}

/** The instance that takes part. */
export interface FleetSelf {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly startTime: number;
  readonly loggers: Loggers | undefined;
  /** How long levels may last that are set through this instance. */
  readonly ttl: TtlOptions;
  /** Called once with an engine's fault that lasts for more than 10 seconds. Default: it is only shown to callers. */
  readonly onError?: ((error: unknown, context: string) => void) | undefined;
}

/** The fleet that an instance takes part in: its instances, and levels that are the same on all of them or on some. */
export class Fleet {
  /** Its name. Instances of one name at one engine are one fleet. */
  readonly name: string;
  /** The id of this instance, unique in the fleet. */
  readonly id: string;
  /** Whether calls that do not say what they concern are for the fleet. */
  readonly isDefault: boolean;
  readonly #engine: FleetEngine;
  readonly #member: FleetMember;
  readonly #levels: FleetLevels | undefined;
  readonly #ttl: TtlOptions;
  readonly #startTime: number;
  /** Whether another process was seen with the id of this instance. */
  #isDoubled = false;
  #address: string | undefined;
  readonly #leases = new Set<FleetLease>();
  readonly #watch = new ReportWatch(() => this.#reports());

  /**
   * Joins the fleet. Does not wait for the engine.
   *
   * @throws ActuatorError INVALID_ARGUMENT for a name of the fleet or of the instance that does not fit.
   */
  constructor(
    { engine, name, labels = {}, role = "member", scope, address }: ActuatorFleetOptions,
    { name: application = "", version = "", ...self }: FleetSelf,
  ) {
    this.name = fleetNameOf(name ?? application);
    const id = self.loggers?.instance ?? instanceName();
    this.id = instanceIdOf(id);
    this.isDefault = (scope ?? (role === "reader" ? "fleet" : "instance")) === "fleet";
    this.#address = address;
    this.#ttl = self.ttl;
    this.#startTime = self.startTime;
    this.#engine = engine.open(this.name);
    this.#member = new FleetMember(this.#engine, {
      id,
      report: () => {
        if (role === "reader") return undefined;
        const faults = this.#levels?.faults ?? { failed: {}, overruled: {}, unknown: {} };
        const { generation } = this.#member.known;
        const report: InstanceReport = {
          application,
          version,
          labels,
          startTime: self.startTime,
          ...(this.#address !== undefined && { address: this.#address, host: hostname() }),
          generation,
          ...faults,
        };
        return JSON.stringify(report);
      },
      onState: (known) => {
        this.#levels?.apply(known);
        for (const lease of this.#leases) lease.follow(known);
      },
      onFault: (fault) => {
        const message = `the engine (${engine.kind}) has not worked for 10 s: ${fault}. Levels stay as they are until it does.`;
        self.onError?.(new Error(message), `fleet ${this.name}`);
      },
    });
    const now = () => this.#member.now();
    const tell = () => this.#member.tell();
    const seen = labelsOf({ id, application, version, labels });
    this.#levels = self.loggers && new FleetLevels(self.loggers, seen, now, tell);
    this.#member.start();
  }

  /** The engine, and why this instance does not take part; the fault is undefined if it does. */
  get engine(): { readonly kind: string; readonly fault: string | undefined; readonly notice: string | undefined } {
    const doubled = `Another process is named ${this.id}, too, and both are listed as one: give each a name with loggers.instance.`;
    const notice = this.#isDoubled ? doubled : this.#engine.notice;
    return { kind: this.#engine.kind, fault: this.#member.fault, notice };
  }

  /** Says where the others reach this instance, unless an option did. */
  listensAt(address: string): void {
    if (this.#address !== undefined) return;
    this.#address = address;
    this.#member.tell();
  }

  /** The greatest generation that is known. */
  get generation(): number {
    return this.#member.known.generation;
  }

  /**
   * The instances, by id.
   *
   * @throws ActuatorError UNAVAILABLE if the engine does not answer, INVALID_ARGUMENT for the selector.
   */
  async instances(selector = ""): Promise<readonly FleetInstance[]> {
    const selected = selectorOf(selector);
    return this.#shown(await this.#reports(), selected);
  }

  /**
   * Calls `listener` with the instances, at once and whenever one of them has said something, at most once a second; with an error when
   * the engine no longer answers.
   *
   * @returns a function that ends it
   * @throws ActuatorError INVALID_ARGUMENT for the selector.
   */
  watchInstances(selector: string, listener: (seen: readonly FleetInstance[] | ActuatorError) => void): () => void {
    const selected = selectorOf(selector);
    return this.#watch.add((seen) => listener(seen instanceof Error ? seen : this.#shown(seen, selected)));
  }

  /**
   * The levels that the fleet has now, by name and then in the order in which they were set.
   *
   * @throws ActuatorError UNAVAILABLE if the engine does not answer.
   */
  async levels(): Promise<readonly FleetEntry[]> {
    await this.#member.refresh();
    const now = this.#member.now();
    return [...prune(this.#member.known, now).entries.values()]
      .filter((entry) => isLive(entry, now))
      .sort(byGeneration)
      .sort((one, other) => (one.name === other.name ? 0 : one.name < other.name ? -1 : 1));
  }

  /**
   * Sets a level on all matching instances, and on those that start later. Undefined clears it: what each instance has beneath comes
   * back. Clearing it for all clears it for every selector.
   *
   * @returns the generation of the change; the engine has it then, and the instances follow
   * @throws ActuatorError INVALID_ARGUMENT, FAILED_PRECONDITION (`ifGeneration`), RESOURCE_EXHAUSTED (too many levels), UNAVAILABLE
   *   (reason OUTCOME_UNKNOWN: it may have happened all the same).
   */
  async setLevel(name: string, level: Level | undefined, request: FleetSetRequest = {}): Promise<number> {
    const { ttlMs: asked } = request;
    if (level !== undefined) checkLevel(level);
    const ttlMs = level === undefined || asked === undefined ? undefined : this.#ttlOf(level, asked);
    const base = this.#entryOf(name, request);
    return this.#change(request, (now) => [{ ...base, ...lifeOf(ttlMs, now), level: level ?? null }]);
  }

  /**
   * Clears a level of the fleet, and ends what was set before on matching instances alone.
   *
   * @returns as {@link setLevel}
   * @throws ActuatorError as {@link setLevel}.
   */
  async restoreLevel(name: string, request: FleetRequest = {}): Promise<number> {
    const base = this.#entryOf(name, request);
    return this.#change(request, () => [{ ...base, slot: "lasting", level: null, restores: true }]);
  }

  /**
   * Sets a level on all matching instances until the returned lease is released. If this process dies, each of them returns to the
   * level beneath after 30 seconds.
   *
   * @throws ActuatorError as {@link setLevel}.
   */
  holdLevel(name: string, level: Level, request: FleetHoldRequest = {}): Promise<FleetLease> {
    return this.holdLevels([name], level, request);
  }

  /**
   * Sets a level on several loggers and groups in one change, as {@link holdLevel} does. The lease is over when it is over for all.
   *
   * @throws ActuatorError as {@link setLevel}; then none is held.
   */
  async holdLevels(names: readonly string[], level: Level, request: FleetHoldRequest = {}): Promise<FleetLease> {
    checkLevel(level);
    const ttlMs = holdTtlFor(level, request.ttlMs, this.#ttl);
    const slot = leaseSlot(crypto.randomUUID());
    const bases = names.map((name): NewEntry => ({ ...this.#entryOf(name, request), slot, level }));
    return this.#leaseOf(bases, ttlMs, request);
  }

  /**
   * Sets a level on some of the matching instances, until {@link finishCanary} sets it on all or takes it back, or until this process
   * ends. The instances are those that are there, in an order that depends on the name, so that not always the same are the first.
   *
   * @throws ActuatorError as {@link setLevel}; FAILED_PRECONDITION if fewer instances match than are asked for.
   */
  async runCanary(name: string, level: Level, request: CanaryRequest): Promise<FleetCanary> {
    checkLevel(level);
    const goal = this.#entryOf(name, request);
    const ttlMs = request.ttlMs === undefined ? undefined : this.#ttlOf(level, request.ttlMs);
    const id = crypto.randomUUID();
    const instances = chosen(await this.instances(request.selector), goal.name, request.instances);
    const entry: NewEntry = {
      ...goal,
      ...{ selector: selectorOfInstances(instances), slot: leaseSlot(id), level },
      canary: { selector: goal.selector, ...(ttlMs !== undefined && { ttlMs: Math.ceil(ttlMs) }) },
    };
    const lease = await this.#leaseOf([entry], holdTtlFor(level, undefined, this.#ttl), request);
    return { id, lease, instances };
  }

  /**
   * Sets the level of a canary on all instances that were selected, or takes it back. Any instance of the fleet can do so, within its own
   * limits of time.
   *
   * @returns the generation of the level that was set; undefined if it was taken back
   * @throws ActuatorError NOT_FOUND if there is no such canary, or no longer, and as {@link setLevel}.
   */
  async finishCanary(id: string, isPromoted: boolean, request: FinishRequest = {}): Promise<number | undefined> {
    checkRequest(request, 0);
    const check = (canary: FleetEntry) => {
      request.check?.(canary);
      if (isPromoted) this.#ttlOf(canary.level!, canary.canary!.ttlMs ?? 0);
    };
    const author = { ...request, check, instance: this.id };
    const { generation } = await this.#member.change((known, now) => {
      return { entries: finished(known, id, isPromoted, author, now) };
    });
    return isPromoted ? generation : undefined;
  }

  /** How a canary ended whose lease is over: the generation of the level that follows it, or undefined. */
  promotion({ lease, id }: FleetCanary): number | undefined {
    return lease.end === "RELEASED" ? promotionOf(this.#member.known, id)?.generation : undefined;
  }

  async #leaseOf(bases: readonly NewEntry[], ttlMs: number | undefined, request: FleetRequest): Promise<FleetLease> {
    const generation = await this.#change(request, (now) => {
      return bases.map((base) => ({ ...base, expireTime: leaseEnd(now, ttlMs) }));
    });
    const lease = new FleetLease(this.#member, bases, generation, ttlMs);
    this.#leases.add(lease);
    lease.onEnd(() => this.#leases.delete(lease));
    return lease;
  }

  /**
   * How far a change has come, instance by instance.
   *
   * @throws ActuatorError as {@link entry}.
   */
  async change(generation: number): Promise<FleetChange> {
    const entry = await this.entry(generation);
    return { entry, instances: statusesOf(entry, await this.#reports()) };
  }

  /**
   * What a change has set.
   *
   * @throws ActuatorError NOT_FOUND if no level has this generation any longer, UNAVAILABLE if the engine does not answer.
   */
  async entry(generation: number): Promise<FleetEntry> {
    let entry = this.#entryWith(generation);
    if (entry === undefined) {
      await this.#member.refresh();
      entry = this.#entryWith(generation);
    }
    if (entry === undefined) {
      const message =
        "No level of the fleet has this generation: it was replaced by a later one, or it ended more than a day ago.";
      throw new ActuatorError("NOT_FOUND", "FLEET_CHANGE_NOT_FOUND", message, { field: "generation" });
    }
    return entry;
  }

  /**
   * Calls `listener` with how far the change has come that made `entry`, as {@link watchInstances} does, but not while the engine does
   * not answer. A later change does not end it.
   */
  watchChange(entry: FleetEntry, listener: (seen: FleetChange) => void): () => void {
    return this.#watch.add((seen) => {
      if (!(seen instanceof Error)) listener({ entry, instances: statusesOf(entry, seen) });
    });
  }

  /**
   * Ends every level of the fleet. It is not enough to empty the engine: the instances would write back what they know.
   *
   * @returns how many levels have ended, and the generation afterwards
   * @throws ActuatorError as {@link setLevel}.
   */
  async reset(
    request: Omit<FleetRequest, "selector"> = {},
  ): Promise<{ readonly ended: number; readonly generation: number }> {
    checkRequest(request, 0);
    let ended = 0;
    const { generation } = await this.#member.change((known, now) => {
      ended = [...known.entries.values()].filter((entry) => isLive(entry, now)).length;
      return { entries: [], isReset: true };
    }, request.ifGeneration);
    return { ended, generation };
  }

  /** Leaves the fleet: its held levels are released, and its levels end in this instance. */
  async close(): Promise<void> {
    for (const lease of this.#leases) lease.release().catch(() => undefined);
    this.#watch.close();
    await this.#member.close();
    this.#levels?.close();
  }

  async #reports(): Promise<readonly ReadReport[]> {
    const reports = readReports(await this.#member.instances(), this.#member.now());
    const own = reports.find(({ id }) => id === this.id);
    // Without a fault, what this instance wrote has replaced what an earlier process of its id left behind.
    if (own !== undefined && this.#member.fault === undefined) this.#isDoubled = own.startTime !== this.#startTime;
    return reports;
  }

  #shown(reports: readonly ReadReport[], selector: string): readonly FleetInstance[] {
    const now = this.#member.now();
    return reports
      .filter((report) => matches(selector, labelsOf(report)))
      .map((report) => instanceOf(report, this.#member.known, now, this.id))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  #ttlOf(level: Level, asked: number | "default"): number | undefined {
    return ttlFor(level, asked === "default" ? undefined : asked, this.#ttl);
  }

  #entryOf(name: string, request: FleetRequest): Omit<NewEntry, "slot" | "level"> {
    checkRequest({ reason: request.reason }, 0);
    const { actor = "", reason = "", selector = "", reach } = request;
    const author = { actor, reason, instance: this.id, ...(reach && { reach }) };
    return { name: loggerName(name), selector: selectorOf(selector), ...author };
  }

  async #change({ ifGeneration }: FleetRequest, entriesOf: (now: number) => readonly NewEntry[]): Promise<number> {
    const { generation } = await this.#member.change((_, now) => ({ entries: entriesOf(now) }), ifGeneration);
    return generation;
  }

  /** Of the entries of one change the one that sets a level says most. */
  #entryWith(generation: number): FleetEntry | undefined {
    const found = [...this.#member.known.entries.values()].filter((entry) => entry.generation === generation);
    return found.find(({ level }) => level !== null) ?? found[0];
  }
}

function fleetNameOf(name: string): string {
  if (isFleetName(name)) return name;
  const why =
    name === ""
      ? "the application has no name"
      : `"${name}" has other characters than letters, digits, "_", "-" and "."`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `Give the fleet a name with \`fleet.name\`: ${why}.`);
}

function instanceIdOf(id: string): string {
  const fault = labelValueFault(id);
  if (fault === undefined) return id;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `\`loggers.instance\` ${fault}, in a fleet.`);
}
