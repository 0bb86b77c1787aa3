import { hostname } from "node:os";
import { ActuatorError } from "../error.ts";
import type { Detach, LoggerAdapter } from "./adapter.ts";
import { type ChangeRequest, checkRequest, type HoldRequest, overrideOf, type SetRequest } from "./change-request.ts";
import { type Group, isMixed, loggersOf } from "./group.ts";
import type { HistoryQuery, LevelChange } from "./history.ts";
import { type HoldOutcome, Lease } from "./lease.ts";
import { type Entry, LevelLedger } from "./ledger.ts";
import { LEVELS, type Level } from "./level.ts";
import type { Measurement, MeasureRequest } from "./measurement.ts";
import { Measurer } from "./measurer.ts";
import { loggerName, ROOT } from "./name.ts";
import type { LoggersOptions } from "./options.ts";
import type { LoggerNode } from "./registry.ts";
import type { StateFile } from "./state-file.ts";
import { keepLevels } from "./stored-levels.ts";
import { holdTtlFor, ttlFor } from "./ttl.ts";
import {
  groupView,
  type LevelOutcome,
  type Logger,
  type LoggerGroup,
  type LoggersOverview,
  loggerView,
} from "./view.ts";

/** The loggers of an application: one tree of names that owns every level, and the native loggers that obey it. */
export class Loggers {
  readonly #ledger: LevelLedger;
  readonly #options: LoggersOptions;
  readonly #instance: string;
  readonly #leases = new Set<Lease>();
  readonly #stateFile: StateFile | undefined;
  readonly #measurer = new Measurer((message) => this.#ledger.registry.warnings.add(ROOT, message));
  #overview: LoggersOverview | undefined;

  /**
   * `onError` hears of a state file that was not read or cannot be written.
   *
   * @throws ActuatorError INVALID_ARGUMENT for a group whose name or member is unfit, and for a state file that cannot be used.
   */
  constructor(options: LoggersOptions = {}, onError: (error: unknown, context: string) => void = () => undefined) {
    this.#options = options;
    this.#instance = options.instance ?? `${hostname()}:${process.pid}`;
    this.#ledger = new LevelLedger(options);
    this.#stateFile = options.state === undefined ? undefined : keepLevels(options.state, this.#ledger, onError);
  }

  /** Grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#ledger.revision;
  }

  /** Lets a logging library take part, until the returned function is called, which first ends what is held. */
  attach(adapter: LoggerAdapter): Detach {
    const detach = this.#ledger.registry.attach(adapter);
    this.#measurer.add(adapter);
    return () => {
      this.#endLeases();
      this.#measurer.delete(adapter);
      detach();
    };
  }

  /** Calls `listener` for every change of a configured level until the returned function is called. */
  onChange(listener: (change: LevelChange) => void): () => void {
    return this.#ledger.onChange(listener);
  }

  /** Calls `listener` whenever the revision has moved, until the returned function is called. */
  onRevision(listener: () => void): () => void {
    return this.#ledger.onRevision(listener);
  }

  /** Everything, built once for each revision. */
  list(): LoggersOverview {
    const { registry, groups } = this.#ledger;
    registry.refresh();
    if (this.#overview?.revision !== this.revision) {
      this.#overview = {
        levels: LEVELS,
        loggers: registry.sorted().map((node) => this.#logger(node)),
        groups: [...groups.values()].map((group) => this.#group(group)),
        revision: this.revision,
      };
    }
    return this.#overview;
  }

  /**
   * The group of this name, or else the logger; undefined where it is neither.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an unfit name.
   */
  get(text: string): Logger | LoggerGroup | undefined {
    const name = loggerName(text);
    const { registry, groups } = this.#ledger;
    registry.refresh();
    const group = groups.get(name);
    if (group !== undefined) return this.#group(group);
    const node = registry.get(name);
    return node && this.#logger(node);
  }

  /** The latest changes of level, newest first. */
  history(query: HistoryQuery): readonly LevelChange[] {
    return this.#ledger.history.list(query);
  }

  /**
   * Configures `level` on the logger, which is created where it is unknown, or on every member of the group; undefined
   * clears it. ROOT, which must have a level, is cleared to the one that the application started with. A group without
   * members is a logger like any other.
   *
   * @throws ActuatorError INVALID_ARGUMENT (unfit name, time or reason), RESOURCE_EXHAUSTED (too many created loggers) or
   *   FAILED_PRECONDITION (`ifRevision` is not the current one); then nothing has changed.
   */
  setLevel(text: string, level: Level | undefined, request: SetRequest = {}): LevelOutcome {
    if (level === undefined) return this.#change(text, request, { kind: "CLEARED" }, () => undefined);
    const { ttl } = request;
    const lasting = ttl === undefined ? undefined : ttlFor(level, ttl === "default" ? undefined : ttl, this.#options);
    return this.#change(text, request, { kind: "SET", ttl: lasting }, () => level);
  }

  /**
   * Configures `level` as {@link setLevel} does, until the lease that it answers with is over.
   *
   * @throws ActuatorError as {@link setLevel}.
   */
  holdLevel(text: string, level: Level, request: HoldRequest = {}): HoldOutcome {
    const ttl = holdTtlFor(level, request.ttl, this.#options);
    const lease = new Lease(ttl, (held) => this.#ledger.lift(held));
    const outcome = this.#change(text, request, { kind: "SET", ttl, lease }, () => level);
    this.#leases.add(lease);
    lease.onEnd(() => this.#leases.delete(lease));
    return { ...outcome, lease };
  }

  /**
   * Takes the logger, or every member of the group, back to what the application itself configured.
   *
   * @throws ActuatorError NOT_FOUND where the name is neither, and as {@link setLevel}.
   */
  restoreLevel(text: string, request: ChangeRequest = {}): LevelOutcome {
    if (this.get(text) === undefined) {
      const message = "No logger and no group has this name.";
      throw new ActuatorError("NOT_FOUND", "LOGGER_NOT_FOUND", message, { field: "name" });
    }
    return this.#change(text, request, { kind: "RESTORED" }, (node) => node?.baseline);
  }

  /**
   * Takes everything back to what the application itself configured. Answers how many loggers that changed.
   *
   * @throws ActuatorError INVALID_ARGUMENT (unfit reason), FAILED_PRECONDITION; then nothing has changed.
   */
  restoreAllLevels(request: ChangeRequest = {}): { readonly restored: number; readonly revision: number } {
    checkRequest(request, this.revision);
    const entry = { kind: "RESTORED", author: overrideOf(request, undefined, this.#instance, false) } as const;
    const { registry, groups, prefixes } = this.#ledger;
    let restored = 0;
    for (const node of registry.sorted()) {
      const level = node.baseline ?? this.#ledger.inherited(node);
      if (node.configured === level && node.override === undefined) continue;
      this.#ledger.apply(node, { level, override: undefined }, entry);
      restored++;
    }
    for (const on of [...prefixes.values(), ...groups.values()]) {
      if (on.configured === undefined) continue;
      this.#ledger.apply(on, { level: undefined, override: undefined }, entry);
    }
    return { restored, revision: this.revision };
  }

  /**
   * Counts the calls of loggers until the measurement ends, the disabled ones too: they say what a level would cost.
   * @throws ActuatorError INVALID_ARGUMENT (unfit duration), RESOURCE_EXHAUSTED (another measurement runs).
   */
  measure(request: MeasureRequest = {}): Measurement {
    return this.#measurer.start(request);
  }

  /**
   * Resolves when the state file holds every change so far, and at once where there is no such file. No answer to a caller
   * waits for that.
   *
   * @throws Error where the file cannot be written; the levels are in force all the same.
   */
  async flushed(): Promise<void> {
    await this.#stateFile?.flushed();
  }

  /**
   * Ends in good order: what is held is given back, the state file has every change so far and gets no more, and then the
   * temporary levels end, because nobody would end them later. May be called again.
   */
  async close(): Promise<void> {
    this.#endLeases();
    this.#measurer.end();
    // That levels cannot be stored was told already, and no reason not to end.
    await this.flushed().catch(() => undefined);
    this.#stateFile?.stop();
    this.#ledger.close();
  }

  /** `levelOf` says what a member gets, and, asked without one, what the group then shows. */
  #change(
    text: string,
    request: ChangeRequest,
    how: Pick<Entry, "kind" | "ttl" | "lease">,
    levelOf: (node?: LoggerNode) => Level | undefined,
  ): LevelOutcome {
    const ledger = this.#ledger;
    const name = loggerName(text);
    checkRequest(request, this.revision);
    const author = overrideOf(request, how.ttl, this.#instance, how.lease !== undefined);
    const override = how.kind === "SET" ? author : undefined;
    const entry = { ...how, author };
    const change = (node: LoggerNode) => {
      const level = levelOf(node) ?? ledger.inherited(node);
      ledger.apply(node, { level, override }, entry);
    };
    const group = ledger.groups.get(name);
    if (group === undefined || group.members.length === 0) {
      const node = ledger.registry.getOrCreate(name);
      const previousLevel = node.configured;
      change(node);
      return { result: this.#logger(node), previousLevel, revision: this.revision };
    }
    const previousLevel = group.configured;
    for (const node of loggersOf(group, ledger.registry)) change(node);
    for (const on of [...group.prefixes, group]) ledger.apply(on, { level: levelOf(), override }, entry);
    return { result: this.#group(group), previousLevel, revision: this.revision };
  }

  #endLeases(): void {
    for (const lease of this.#leases) lease.release("CLOSED");
  }

  #logger(node: LoggerNode): Logger {
    return loggerView(node, this.#ledger.registry.warnings.of(node.name));
  }

  #group(group: Group): LoggerGroup {
    const { registry } = this.#ledger;
    // A group without members is written to as a logger, and so shows what that logger has.
    const { configured, override } = group.members.length > 0 ? group : (registry.get(group.name) ?? group);
    return groupView({ ...group, configured, override }, isMixed(group, registry));
  }
}
