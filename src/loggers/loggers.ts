import { hostname } from "node:os";
import { ActuatorError } from "../error.ts";
import type { Detach, LoggerAdapter } from "./adapter.ts";
import { effectiveLevel } from "./binding.ts";
import { type ChangeRequest, checkRequest, overrideOf, type SetRequest } from "./change-request.ts";
import { Expiries } from "./expiries.ts";
import { type Group, groupsFrom } from "./group.ts";
import { type HistoryQuery, type LevelChange, type LevelChangeKind, LevelHistory } from "./history.ts";
import { LEVELS, type Level } from "./level.ts";
import { loggerName } from "./name.ts";
import type { LoggersOptions } from "./options.ts";
import type { Override } from "./override.ts";
import { type LoggerNode, LoggerRegistry } from "./registry.ts";
import type { Setting } from "./setting.ts";
import { ttlFor } from "./ttl.ts";
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
  readonly #registry: LoggerRegistry;
  readonly #groups: Map<string, Group>;
  readonly #expiries = new Expiries<LoggerNode | Group>((on) => this.#expire(on));
  readonly #history: LevelHistory;
  readonly #options: LoggersOptions;
  readonly #instance: string;
  readonly #listeners = new Set<(change: LevelChange) => void>();
  #revision = 1;
  #overview: LoggersOverview | undefined;

  /** @throws ActuatorError INVALID_ARGUMENT for a group whose name or member is unfit. */
  constructor(options: LoggersOptions = {}) {
    this.#options = options;
    this.#groups = groupsFrom(options.groups ?? {});
    this.#history = new LevelHistory(options.maxHistory ?? 10_000);
    this.#instance = options.instance ?? `${hostname()}:${process.pid}`;
    const limits = { maxCreated: options.maxCreated ?? 10_000, maxLoggers: options.maxLoggers ?? 250_000 };
    this.#registry = new LoggerRegistry(limits, {
      changed: () => {
        this.#revision++;
      },
      born: (node, level) => {
        if (node === this.#registry.root || node.configured === undefined) this.#registry.configure(node, level);
        // What the application wants comes back when a temporary level, set before the logger was there, ends.
        else if (node.beneath?.level === undefined && node.beneath !== undefined) {
          node.beneath = { level, override: undefined };
        }
      },
      setOutside: (node, level) => {
        if (node.configured === level && node.beneath === undefined) return;
        this.#apply(node, { level, override: undefined }, "APPLICATION");
      },
    });
  }

  /** Grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#revision;
  }

  /** Lets a logging library take part, until the returned function is called. */
  attach(adapter: LoggerAdapter): Detach {
    return this.#registry.attach(adapter);
  }

  /** Calls `listener` for every change of a configured level until the returned function is called. */
  onChange(listener: (change: LevelChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Everything, built once for each revision. */
  list(): LoggersOverview {
    this.#registry.refresh();
    if (this.#overview?.revision !== this.#revision) {
      this.#overview = {
        levels: LEVELS,
        loggers: this.#registry.sorted().map((node) => this.#logger(node)),
        groups: [...this.#groups.values()].map((group) => this.#group(group)),
        revision: this.#revision,
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
    this.#registry.refresh();
    const group = this.#groups.get(name);
    if (group !== undefined) return this.#group(group);
    const node = this.#registry.get(name);
    return node && this.#logger(node);
  }

  /** The latest changes of level, newest first. */
  history(query: HistoryQuery): readonly LevelChange[] {
    return this.#history.list(query);
  }

  /**
   * Configures `level` on the logger, which is created where it is unknown, or on every member of the group; undefined
   * clears it. ROOT, which must have a level, is cleared to the one that the application started with. A group without
   * members is a logger like any other.
   *
   * @throws ActuatorError INVALID_ARGUMENT (unfit name or time), RESOURCE_EXHAUSTED (too many created loggers) or
   *   FAILED_PRECONDITION (`ifRevision` is not the current one); then nothing has changed.
   */
  setLevel(text: string, level: Level | undefined, request: SetRequest = {}): LevelOutcome {
    const { ttl } = request;
    const asked = ttl === "default" ? undefined : ttl;
    const lasting = level === undefined || ttl === undefined ? undefined : ttlFor(level, asked, this.#options);
    const kind = level === undefined ? "CLEARED" : "SET";
    return this.#change(text, request, kind, lasting, (node) => level ?? this.#inherited(node));
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
    return this.#change(text, request, "RESTORED", undefined, (node) => node.baseline ?? this.#inherited(node));
  }

  /** Takes everything back to what the application itself configured. Resolves to how many loggers that changed. */
  restoreAllLevels(request: ChangeRequest = {}): { readonly restored: number; readonly revision: number } {
    checkRequest(request, this.#revision);
    const override = overrideOf(request, undefined, this.#instance);
    let restored = 0;
    for (const node of this.#registry.sorted()) {
      const level = node.baseline ?? this.#inherited(node);
      if (node.configured === level && node.override === undefined) continue;
      restored++;
      this.#apply(node, { level, override: undefined }, "RESTORED", undefined, override);
    }
    for (const group of this.#groups.values()) {
      if (group.configured === undefined) continue;
      this.#apply(group, { level: undefined, override: undefined }, "RESTORED", undefined, override);
    }
    return { restored, revision: this.#revision };
  }

  /** Ends every temporary level's timer; levels stay as they are. */
  close(): void {
    this.#expiries.clear();
  }

  #change(
    text: string,
    request: ChangeRequest,
    kind: LevelChangeKind,
    ttl: number | undefined,
    levelOf: (node: LoggerNode) => Level | undefined,
  ): LevelOutcome {
    const name = loggerName(text);
    checkRequest(request, this.#revision);
    const override = overrideOf(request, ttl, this.#instance);
    const set = (on: LoggerNode | Group, level: Level | undefined) => {
      const stays = kind === "SET" ? override : undefined;
      this.#apply(on, { level, override: stays }, kind, ttl, override);
    };
    const group = this.#groups.get(name);
    if (group === undefined || group.members.length === 0) {
      const node = this.#registry.getOrCreate(name);
      const previousLevel = node.configured;
      set(node, levelOf(node));
      if (group !== undefined) Object.assign(group, { configured: node.configured, override: node.override });
      return { result: this.#logger(node), previousLevel, revision: this.#revision };
    }
    const previousLevel = group.configured;
    for (const member of group.members) {
      const node = this.#registry.ensure(member);
      set(node, levelOf(node));
    }
    set(group, kind === "SET" ? levelOf(this.#registry.root) : undefined);
    return { result: this.#group(group), previousLevel, revision: this.#revision };
  }

  /** The one place where a configured level changes: native loggers, what is noted of it, its end and the history. */
  #apply(
    on: LoggerNode | Group,
    setting: Setting,
    kind: LevelChangeKind,
    ttl?: number | undefined,
    author: Override | undefined = setting.override,
  ): void {
    const previousLevel = on.configured;
    const beneath = ttl === undefined ? undefined : (on.beneath ?? { level: on.configured, override: on.override });
    if (isGroup(on)) on.configured = setting.level;
    else this.#registry.configure(on, setting.level);
    on.override = setting.override;
    on.beneath = beneath;
    if (ttl === undefined) this.#expiries.delete(on);
    else this.#expiries.set(on, ttl);
    const revision = ++this.#revision;
    const change = this.#history.add({
      name: on.name,
      previousLevel,
      level: setting.level,
      override: author,
      kind,
      time: Date.now(),
      revision,
    });
    for (const listener of this.#listeners) listener(change);
  }

  #expire(on: LoggerNode | Group): void {
    this.#apply(on, on.beneath ?? { level: undefined, override: undefined }, "EXPIRED");
  }

  /** What a logger has when it is cleared. */
  #inherited(node: LoggerNode): Level | undefined {
    return node === this.#registry.root ? (node.baseline ?? "INFO") : undefined;
  }

  #logger(node: LoggerNode): Logger {
    return loggerView(node, this.#registry.warnings.of(node.name));
  }

  #group(group: Group): LoggerGroup {
    return groupView(group, (name) => effectiveLevel(this.#registry.nearest(name)));
  }
}

function isGroup(on: LoggerNode | Group): on is Group {
  return "members" in on;
}
