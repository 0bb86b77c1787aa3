import { hostname } from "node:os";
import { ActuatorError } from "../common/error.ts";
import type { Detach, LoggerAdapter } from "./adapter.ts";
import { Catalogue } from "./catalogue.ts";
import { type ChangeRequest, checkRequest, type HoldRequest, overrideOf, type SetRequest } from "./change-request.ts";
import { loggersOf } from "./group.ts";
import type { HistoryQuery, LevelChange } from "./history.ts";
import { type HoldOutcome, Lease } from "./lease.ts";
import { type Entry, LevelLedger } from "./ledger.ts";
import type { Level } from "./level.ts";
import type { Measurement, MeasureRequest } from "./measurement.ts";
import { Measurer } from "./measurer.ts";
import { loggerName, ROOT } from "./name.ts";
import type { LoggersOptions } from "./options.ts";
import type { LoggerNode } from "./registry.ts";
import { type RequestLevelOptions, RequestLevels } from "./request-level.ts";
import type { StateFile } from "./state-file.ts";
import { keepLevels } from "./stored-levels.ts";
import { holdTtlFor, ttlFor } from "./ttl.ts";
import type { LevelOutcome, Logger, LoggerGroup, LoggersOverview } from "./view.ts";

/** How many loggers may be held at once, each counted for each who holds it; one more group is let in below that. */
const MAX_HELD = 100_000;

/** The loggers of an application: one tree of names that owns every level, and the native loggers that obey it. */
export class Loggers {
  readonly #ledger: LevelLedger;
  readonly #catalogue: Catalogue;
  readonly #options: LoggersOptions;
  readonly #instance: string;
  readonly #leases = new Set<Lease>();
  readonly #stateFile: StateFile | undefined;
  readonly #warn = (message: string) => this.#ledger.registry.warnings.add(ROOT, message);
  readonly #measurer = new Measurer(this.#warn);
  readonly #requestLevels = new RequestLevels(this.#warn);

  /**
   * `onError` hears of a state file that was not read or cannot be written.
   *
   * @throws ActuatorError INVALID_ARGUMENT for a group whose name or member is unfit, and for a state file that cannot be used.
   */
  constructor(options: LoggersOptions = {}, onError: (error: unknown, context: string) => void = () => undefined) {
    this.#options = options;
    this.#instance = options.instance ?? `${hostname()}:${process.pid}`;
    this.#ledger = new LevelLedger(options);
    this.#catalogue = new Catalogue(this.#ledger);
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
    this.#requestLevels.add(adapter);
    return () => {
      this.#endLeases();
      this.#measurer.delete(adapter);
      this.#requestLevels.delete(adapter);
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
    this.#ledger.registry.refresh();
    return this.#catalogue.list();
  }

  /**
   * The group of this name, or else the logger; undefined where it is neither.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an unfit name.
   */
  get(text: string): Logger | LoggerGroup | undefined {
    const name = loggerName(text);
    this.#ledger.registry.refresh();
    return this.#catalogue.get(name);
  }

  /**
   * All that a change of level under this name reaches: the members of a group, or the logger itself.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an unfit name.
   */
  reach(text: string): readonly string[] {
    const name = loggerName(text);
    const members = this.#ledger.groups.get(name)?.members ?? [];
    return members.length === 0 ? [name] : members;
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
    const { ttlMs: ttl } = request;
    const lasting = ttl === undefined ? undefined : ttlFor(level, ttl === "default" ? undefined : ttl, this.#options);
    return this.#change(text, request, { kind: "SET", ttlMs: lasting }, () => level);
  }

  /**
   * Configures `level` as {@link setLevel} does, until the lease that it answers with is over.
   *
   * @throws ActuatorError as {@link setLevel}.
   */
  holdLevel(text: string, level: Level, request: HoldRequest = {}): HoldOutcome {
    const ttl = holdTtlFor(level, request.ttlMs, this.#options);
    this.#checkHeld();
    const lease = new Lease(ttl, (held) => this.#ledger.lift(held));
    const outcome = this.#change(text, request, { kind: "SET", ttlMs: ttl, lease }, () => level);
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
    return { restored: this.#ledger.restoreAll(entry), revision: this.revision };
  }

  /**
   * Counts the calls of loggers until the measurement ends, the disabled ones too: they say what a level would cost.
   * @throws ActuatorError INVALID_ARGUMENT (unfit duration), RESOURCE_EXHAUSTED (another measurement runs).
   */
  measure(request: MeasureRequest = {}): Measurement {
    return this.#measurer.start(request);
  }

  /**
   * Runs `fn` and lets loggers write what `level` lets through, for what `fn` does alone, until it returned or its promise is
   * settled. It only adds to the levels that are set, for pino; the loggers of other libraries stay as they are.
   * @throws ActuatorError INVALID_ARGUMENT (unfit level or name), and what `fn` throws.
   */
  withLevel<T>(level: Level, fn: () => T, options: RequestLevelOptions = {}): T {
    return this.#requestLevels.withLevel(level, fn, options);
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
    this.#requestLevels.end();
    // That levels cannot be stored was told already, and no reason not to end.
    await this.flushed().catch(() => undefined);
    this.#stateFile?.stop();
    this.#ledger.close();
  }

  /** `levelOf` says what a member gets, and, asked without one, what the group then shows. */
  #change(
    text: string,
    request: ChangeRequest,
    how: Pick<Entry, "kind" | "ttlMs" | "lease">,
    levelOf: (node?: LoggerNode) => Level | undefined,
  ): LevelOutcome {
    const ledger = this.#ledger;
    const name = loggerName(text);
    checkRequest(request, this.revision);
    const author = overrideOf(request, how.ttlMs, this.#instance, how.lease !== undefined);
    const override = how.kind === "SET" ? author : undefined;
    const entry = { ...how, author };
    const group = ledger.groups.get(name);
    const change = (node: LoggerNode) => {
      const level = levelOf(node) ?? ledger.inherited(node);
      ledger.apply(node, { level, override }, { ...entry, group: group?.name });
    };
    if (group === undefined || group.members.length === 0) {
      const node = ledger.registry.getOrCreate(name);
      const previousLevel = node.configured;
      change(node);
      return { result: this.#catalogue.logger(node), previousLevel, revision: this.revision };
    }
    const previousLevel = group.configured;
    for (const node of loggersOf(group, ledger.registry)) change(node);
    const shown = { level: levelOf(), override };
    for (const prefix of group.prefixes) ledger.apply(prefix, shown, { ...entry, group: group.name });
    ledger.apply(group, shown, entry);
    return { result: this.#catalogue.group(group), previousLevel, revision: this.revision };
  }

  #checkHeld(): void {
    let held = 0;
    for (const { size } of this.#leases) held += size;
    if (held < MAX_HELD) return;
    const message = "Too many levels are held already; wait until others let go.";
    throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_HELD_LEVELS", message);
  }

  #endLeases(): void {
    for (const lease of this.#leases) lease.release("CLOSED");
  }
}
