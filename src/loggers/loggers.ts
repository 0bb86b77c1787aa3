import { ActuatorError } from "../common/error.ts";
import { instanceName } from "../common/instance.ts";
import type { Detach, LoggerAdapter, RecordSink } from "./adapter.ts";
import {
  type ChangeRequest,
  checkRequest,
  type HoldRequest,
  holdTtlFor,
  overrideOf,
  type SetRequest,
  ttlFor,
} from "./change-request.ts";
import { ConfiguredLevels, type LevelUpdate } from "./configured-levels.ts";
import { loggersOf } from "./group.ts";
import type { HistoryQuery, LevelChange } from "./history.ts";
import { type HoldOutcome, Lease } from "./lease.ts";
import { checkLevel, type Level, levelVerbosity } from "./level.ts";
import { LevelsFile } from "./levels-file.ts";
import { type Activity, Libraries } from "./libraries.ts";
import { type Measurement, type MeasureRequest, Measurer } from "./measurement.ts";
import { loggerName, ROOT } from "./name.ts";
import { applicationLevel, effectiveLevel } from "./node-levels.ts";
import { type Notice, noticesOf, unknownNotices } from "./notice.ts";
import type { LoggersOptions } from "./options.ts";
import type { LoggerNode } from "./registry.ts";
import { type RequestLevelOptions, RequestLevels } from "./request-level.ts";
import { APPLICATION, type Override, type Setting } from "./setting.ts";
import type { StateFile } from "./state-file.ts";
import { keepLevels } from "./stored-levels.ts";
import { type LevelOutcome, type Logger, type LoggerGroup, type LoggersOverview, LoggerViews } from "./view.ts";

/** The maximum of held levels on loggers. Below it, one more hold is accepted, whatever the number of its group's members. */
const MAX_HELD = 100_000;

/** The loggers of an application: one tree of names with their levels, and the native loggers that follow it. */
export class Loggers {
  readonly #levels: ConfiguredLevels;
  readonly #views: LoggerViews;
  readonly #options: LoggersOptions;
  readonly #instance: string;
  readonly #leases = new Set<Lease>();
  readonly #stateFile: StateFile | undefined;
  readonly #levelsFile: LevelsFile | undefined;
  readonly #warn = (message: string) => this.#levels.registry.warnings.add(ROOT, message);
  readonly #libraries = new Libraries();
  readonly #measurer = new Measurer(this.#libraries, this.#warn);
  readonly #requestLevels = new RequestLevels(this.#libraries, this.#warn);
  #hearing: Activity | undefined;

  /**
   * `onError` is called if a state file is not read or cannot be written.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name of a group or a member, and for a state file that cannot be used.
   */
  constructor(options: LoggersOptions = {}, onError: (error: unknown, context: string) => void = () => undefined) {
    this.#options = options;
    this.#instance = options.instance ?? instanceName();
    this.#levels = new ConfiguredLevels(options);
    this.#views = new LoggerViews(this.#levels);
    const { levelsFile: path } = options;
    const unread = (error: Error) => onError(error, "loggers.levelsFile");
    this.#levelsFile = path === undefined ? undefined : new LevelsFile(path, this, unread);
    this.#stateFile = options.state === undefined ? undefined : keepLevels(options.state, this.#levels, onError);
  }

  /** The name of this process in the history and in overrides. */
  get instance(): string {
    return this.#instance;
  }

  /** A number that grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#levels.revision;
  }

  /** Manages the loggers of a library. Returns a function that ends all held levels and detaches the library. */
  attach(adapter: LoggerAdapter): Detach {
    const detach = this.#levels.registry.attach(adapter);
    this.#libraries.add(adapter);
    return () => {
      this.#endLeases();
      this.#libraries.delete(adapter);
      detach();
    };
  }

  /** Calls `listener` for every change of a configured level. Returns a function that removes it. */
  onChange(listener: (change: LevelChange) => void): () => void {
    return this.#levels.onChange(listener);
  }

  /** Calls `listener` whenever the revision has grown. Returns a function that removes it. */
  onRevision(listener: () => void): () => void {
    return this.#levels.onRevision(listener);
  }

  /** All loggers and groups; one object for each revision. */
  list(): LoggersOverview {
    this.#levels.registry.refresh();
    return this.#views.list();
  }

  /**
   * The group of this name, or else the logger; undefined if there is neither.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  get(text: string): Logger | LoggerGroup | undefined {
    const name = loggerName(text);
    this.#levels.registry.refresh();
    return this.#views.get(name);
  }

  /**
   * The names that a change of level of this name applies to: the members of a group, or the logger itself.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  reach(text: string): readonly string[] {
    const name = loggerName(text);
    const members = this.#levels.groups.get(name)?.members ?? [];
    return members.length === 0 ? [name] : members;
  }

  /** The latest changes of level, newest first. */
  history(query: HistoryQuery): readonly LevelChange[] {
    return this.#levels.history.list(query);
  }

  /**
   * Configures `level` on the logger, which is created if it is unknown, or on every member of the group. Undefined clears the
   * level. ROOT, which must have a level, is cleared to the one that the application started with. A group without members is a
   * logger like any other.
   *
   * @throws ActuatorError INVALID_ARGUMENT (invalid name, level, time or reason), RESOURCE_EXHAUSTED (too many created loggers) or
   *   FAILED_PRECONDITION (`ifRevision` is not the current revision). Then nothing has changed.
   */
  setLevel(text: string, level: Level | undefined, request: SetRequest = {}): LevelOutcome {
    if (level === undefined) {
      const clear = (author: Override, node?: LoggerNode) => (node ? this.#levels.cleared(node, author) : APPLICATION);
      return this.#change(text, request, { kind: "CLEARED" }, clear);
    }
    checkLevel(level);
    const { ttlMs: asked } = request;
    const ttlMs =
      asked === undefined ? undefined : ttlFor(level, asked === "default" ? undefined : asked, this.#options);
    return this.#change(text, request, { kind: "SET", ttlMs }, (override) => ({ level, override }));
  }

  /**
   * Configures `level` as {@link setLevel} does, until the returned lease is over.
   *
   * @throws ActuatorError as {@link setLevel}.
   */
  holdLevel(text: string, level: Level, request: HoldRequest = {}): HoldOutcome {
    const letsMoreThrough = (other: Setting) =>
      other.level !== undefined && levelVerbosity(other.level) > levelVerbosity(level);
    const isBeneath = request.isBeneath ? letsMoreThrough : undefined;
    return this.#hold(text, level, request, { ttlMs: this.checkHold(level, request), isBeneath });
  }

  /**
   * Holds a level that was decided elsewhere, with the override that it got there, until the returned lease is released. The limits of
   * time are those of the place where it was decided.
   *
   * @param isBeneath whether another setting of the same logger stays above it. A lease with nothing but permanent ones above it is
   *   OVERRULED at once
   * @throws ActuatorError INVALID_ARGUMENT (invalid name), RESOURCE_EXHAUSTED (too many created loggers or held levels).
   */
  holdDecided(text: string, level: Level, author: Override, isBeneath: (other: Setting) => boolean): HoldOutcome {
    return this.#hold(text, level, {}, { author, isBeneath });
  }

  /**
   * Checks what {@link holdLevel} would be asked for. Returns how long the level would be held at most, in milliseconds; undefined for
   * as long as its lease.
   *
   * @throws ActuatorError INVALID_ARGUMENT (invalid level, time or reason), FAILED_PRECONDITION.
   */
  checkHold(level: Level, request: HoldRequest): number | undefined {
    checkLevel(level);
    checkRequest(request, this.revision);
    return holdTtlFor(level, request.ttlMs, this.#options);
  }

  /**
   * Restores what the application configured on the logger or on every member of the group.
   *
   * @throws ActuatorError NOT_FOUND if there is neither of this name, and as {@link setLevel}.
   */
  restoreLevel(text: string, request: ChangeRequest = {}): LevelOutcome {
    if (this.get(text) === undefined) {
      const message = "No logger and no group has this name.";
      throw new ActuatorError("NOT_FOUND", "LOGGER_NOT_FOUND", message, { field: "name" });
    }
    return this.#change(text, request, { kind: "RESTORED" }, () => APPLICATION);
  }

  /**
   * Restores what the application configured on all loggers. Returns how many have changed.
   *
   * @throws ActuatorError INVALID_ARGUMENT (invalid reason), FAILED_PRECONDITION. Then nothing has changed.
   */
  restoreAllLevels(request: ChangeRequest = {}): { readonly restored: number; readonly revision: number } {
    this.#levels.registry.readLevels();
    checkRequest(request, this.revision);
    const update = { kind: "RESTORED", author: overrideOf(request, undefined, this.#instance, false) } as const;
    return { restored: this.#levels.restoreAll(update), revision: this.revision };
  }

  /**
   * Counts the calls of loggers until the measurement ends. Disabled calls are counted too; they show what a level would cost.
   *
   * @throws ActuatorError INVALID_ARGUMENT (invalid duration), RESOURCE_EXHAUSTED (another measurement is running).
   */
  measure(request: MeasureRequest = {}): Measurement {
    return this.#measurer.start(request);
  }

  /**
   * Runs `fn` and lets loggers write what `level` lets through, only for what `fn` does, until it has returned or its promise is
   * settled. It only adds to the configured levels, and only for pino.
   *
   * @throws ActuatorError INVALID_ARGUMENT (invalid level or name), and what `fn` throws.
   */
  withLevel<T>(level: Level, fn: () => T, options: RequestLevelOptions = {}): T {
    return this.#requestLevels.withLevel(level, fn, options);
  }

  /**
   * Gives every record that a logger writes from now on to the sink of its name, until this is called again; undefined ends it.
   * `sinkOf` is called once for each logger, and returns undefined if its records are not wanted. Without sinks a record costs
   * nothing more. `hides` says whether a sink may have a `hiddenVerbosity`. For `Logs`.
   *
   * @returns the kinds of libraries in use whose records cannot be heard
   */
  hear(sinkOf: ((name: string, kind: string) => RecordSink | undefined) | undefined, hides = false): readonly string[] {
    this.#hearing?.end();
    this.#hearing =
      sinkOf &&
      this.#libraries.begin(
        (adapter) => adapter.tail?.((name) => sinkOf(name, adapter.kind), hides),
        (kind, error) => this.#warn(`records of ${kind} not heard: ${error}`),
      );
    return this.#hearing?.lackingKinds ?? [];
  }

  /**
   * Why the records that the level of these loggers drops cannot be made for one reader alone; undefined if they can.
   *
   * @param isSelected whether a logger is one of them
   */
  hidingFault(isSelected: (name: string) => boolean): string | undefined {
    const kinds = new Set(
      this.list()
        .loggers.filter(({ name }) => isSelected(name))
        .map(({ kind }) => kind),
    );
    for (const { kind, hides = `${kind} cannot keep records from its destinations` } of this.#libraries.all()) {
      if (hides !== true && kinds.has(kind)) return hides;
    }
    return undefined;
  }

  /**
   * The level in effect on a name, known or not.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  effectiveLevel(text: string): Level {
    return effectiveLevel(this.#levels.registry.nearest(loggerName(text)));
  }

  /**
   * The level that a name has beneath the temporary ones that are set on it; undefined if none is.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  levelBeneathTemporary(text: string): Level | undefined {
    const node = this.#levels.registry.get(loggerName(text));
    if (node?.permanent === undefined) return undefined;
    const { level, override } = node.permanent;
    const own = level ?? (override === undefined ? applicationLevel(node) : undefined);
    return own ?? effectiveLevel(node.parent ?? node);
  }

  /**
   * A notice for each of these names that no logger and no group has, or no logger below it for a prefix such as `orders.*`; at most
   * 10.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  unknown(names: readonly string[]): readonly Notice[] {
    const { groups, registry } = this.#levels;
    return unknownNotices(
      names.filter((name) => !groups.has(loggerName(name))),
      registry,
    );
  }

  /**
   * The name whose level a logger has: its own or the nearest name above it with a configured level, or else ROOT.
   *
   * @throws ActuatorError INVALID_ARGUMENT for an invalid name.
   */
  nameThatDecides(text: string): string {
    const { registry } = this.#levels;
    let node = registry.nearest(loggerName(text));
    while (node.parent !== undefined && this.#levels.levelOf(node) === undefined) node = node.parent;
    return node.key;
  }

  /** What is wrong with the state file: entries that it lost, and levels that are in force and not stored. */
  get stateProblems(): readonly string[] {
    return this.#stateFile?.problems ?? [];
  }

  /** Calls `listener` when levels can no longer be stored in the state file, and when they are stored again. */
  onStored(listener: (isStored: boolean) => void): void {
    this.#stateFile?.onStored(listener);
  }

  /**
   * Resolves when the state file includes every change so far, and at once if there is no state file.
   *
   * @throws Error if the file cannot be written. The levels are in force all the same.
   */
  async flushed(): Promise<void> {
    await this.#stateFile?.flushed();
  }

  /**
   * Ends all held levels, writes the state file for the last time, and then ends the temporary levels, because nothing would end
   * them later. May be called again.
   */
  async close(): Promise<void> {
    this.#levelsFile?.close();
    this.#endLeases();
    this.#measurer.end();
    this.#requestLevels.end();
    this.hear(undefined);
    // A failure to store levels has been reported already.
    await this.flushed().catch(() => undefined);
    this.#stateFile?.stop();
    this.#levels.close();
  }

  #hold(
    text: string,
    level: Level,
    request: HoldRequest,
    given: Pick<LevelUpdate, "ttlMs" | "author" | "isBeneath">,
  ): HoldOutcome {
    this.#checkHeld();
    const lease = new Lease(given.ttlMs, (held, cause) => this.#levels.endTemporary(held, cause));
    const outcome = this.#change(text, request, { kind: "SET", lease, ...given }, (override) => ({ level, override }));
    this.#leases.add(lease);
    lease.onEnd(() => this.#leases.delete(lease));
    if (lease.size === 0) lease.release("OVERRULED");
    return { ...outcome, lease };
  }

  /** `settingFor` returns the setting for a logger or, without one, for the group itself. */
  #change(
    text: string,
    request: ChangeRequest,
    how: Pick<LevelUpdate, "kind" | "ttlMs" | "lease" | "isBeneath" | "author">,
    settingFor: (author: Override, node?: LoggerNode) => Setting,
  ): LevelOutcome {
    const levels = this.#levels;
    const name = loggerName(text);
    levels.registry.readLevels();
    checkRequest(request, this.revision);
    const author = how.author ?? overrideOf(request, how.ttlMs, this.#instance, how.lease !== undefined);
    const update = { ...how, author };
    const levelOfChange = settingFor(author).level;
    const group = levels.groups.get(name);
    const change = (node: LoggerNode) => {
      levels.apply(node, settingFor(author, node), { ...update, group: group?.name });
    };
    if (group === undefined || group.members.length === 0) {
      const node = levels.registry.getOrCreate(text);
      const previousLevel = levels.levelOf(node);
      change(node);
      const notices = noticesOf([node], undefined, levelOfChange, levels.registry);
      return { result: this.#views.logger(node), previousLevel, revision: this.revision, notices };
    }
    const previousLevel = group.configured;
    const nodes = loggersOf(group, levels.registry);
    for (const node of nodes) change(node);
    const shown = settingFor(author);
    for (const prefix of group.prefixes) levels.apply(prefix, shown, { ...update, group: group.name });
    levels.apply(group, shown, update);
    const notices = noticesOf(nodes, group, levelOfChange, levels.registry);
    return { result: this.#views.group(group), previousLevel, revision: this.revision, notices };
  }

  #checkHeld(): void {
    let held = 0;
    for (const { size } of this.#leases) held += size;
    if (held < MAX_HELD) return;
    const message = "Too many levels are held already; wait until others are released.";
    throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_HELD_LEVELS", message);
  }

  #endLeases(): void {
    for (const lease of this.#leases) lease.release("CLOSED");
  }
}
