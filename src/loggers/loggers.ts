import { ActuatorError } from "../error.ts";
import type { Detach, LoggerAdapter, LoggerHandle, LoggerHost } from "./adapter.ts";
import { Bindings, type BoundNode, effectiveLevel } from "./binding.ts";
import { type Group, groupsFrom } from "./group.ts";
import { LEVELS, type Level } from "./level.ts";
import { loggerName, ROOT } from "./name.ts";
import { Refresh } from "./refresh.ts";
import { LevelTree } from "./tree.ts";
import type { LevelChange, Logger, LoggerGroup, LoggersOverview } from "./view.ts";
import { Warnings } from "./warnings.ts";

/** How the loggers of an application are set up. */
export interface LoggersOptions {
  /** Groups by name, each with the names of its members. */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /** How many loggers may exist only because somebody set a level on their name. Default 10,000. */
  readonly maxCreated?: number | undefined;
  /** How many names may be known at all; loggers found beyond keep the level they have. Default 250,000. */
  readonly maxLoggers?: number | undefined;
}

interface Node extends BoundNode {
  /** What the application itself had configured when the name was found. */
  baseline: Level | undefined;
  /** Known only because somebody asked for the name or for one below it. */
  created: boolean;
}

/** The loggers of an application: one tree of names that owns every level, and the native loggers that obey it. */
export class Loggers {
  readonly #tree = new LevelTree<Node>("INFO", (bare) => {
    return { ...bare, bindings: undefined, pushed: undefined, baseline: undefined, created: false } as Node;
  });
  readonly #groups: Map<string, Group>;
  readonly #bindings = new Bindings((node, error) => this.#warnings.add(node.name, `level not applied: ${error}`));
  readonly #warnings = new Warnings(() => this.#revision++);
  readonly #refresh = new Refresh();
  readonly #maxCreated: number;
  readonly #maxLoggers: number;
  #created = 0;
  #revision = 1;
  #overview: LoggersOverview | undefined;
  #sortedNodes: readonly Node[] = [];

  /** @throws ActuatorError INVALID_ARGUMENT for a group whose name or member is unfit. */
  constructor(options: LoggersOptions = {}) {
    this.#groups = groupsFrom(options.groups ?? {});
    this.#maxCreated = options.maxCreated ?? 10_000;
    this.#maxLoggers = options.maxLoggers ?? 250_000;
  }

  /** Grows with every change of a level or of the set of loggers. */
  get revision(): number {
    return this.#revision;
  }

  /** Lets a logging library take part, until the returned function is called. */
  attach(adapter: LoggerAdapter): Detach {
    const handles = new Set<LoggerHandle>();
    const detach = adapter.attach(this.#host(adapter.kind, handles));
    this.#refresh.add(adapter);
    return () => {
      detach();
      this.#refresh.delete(adapter);
      for (const handle of handles) this.#bindings.remove(handle);
      this.#revision++;
    };
  }

  /** Everything, built once for each revision. */
  list(): LoggersOverview {
    this.#refresh.run();
    if (this.#overview?.revision !== this.#revision) {
      this.#overview = {
        levels: LEVELS,
        loggers: this.#sorted().map((node) => this.#logger(node)),
        groups: [...this.#groups.values()].map(groupView),
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
    this.#refresh.run();
    const group = this.#groups.get(name);
    if (group !== undefined) return groupView(group);
    const node = this.#tree.get(name);
    return node && this.#logger(node);
  }

  /**
   * Configures `level` on the logger, which is created where it is unknown, or on every member of the group; undefined
   * clears it. ROOT, which must have a level, is cleared to the one that the application started with. A group without
   * members is a logger like any other.
   *
   * @throws ActuatorError INVALID_ARGUMENT (unfit name), RESOURCE_EXHAUSTED (too many created loggers) or
   *   FAILED_PRECONDITION (`ifRevision` is not the current one); then nothing has changed.
   */
  setLevel(
    text: string,
    level: Level | undefined,
    options: { readonly ifRevision?: number | undefined } = {},
  ): LevelChange {
    const name = loggerName(text);
    const { ifRevision } = options;
    if (ifRevision !== undefined && ifRevision !== this.#revision) {
      const message = `The revision is ${this.#revision}, not ${ifRevision}: somebody changed a logger in between. Read it again.`;
      throw new ActuatorError("FAILED_PRECONDITION", "REVISION_CHANGED", message, { field: "if_revision" });
    }
    const group = this.#groups.get(name);
    if (group === undefined || group.members.length === 0) {
      const node = this.#tree.get(name) ?? this.#createNode(name);
      const previousLevel = node.configured;
      this.#configure(node, level);
      if (group !== undefined) group.configured = level;
      return { result: this.#logger(node), previousLevel, revision: ++this.#revision };
    }
    const previousLevel = group.configured;
    for (const member of group.members) this.#configure(this.#tree.ensure(member), level);
    group.configured = level;
    return { result: groupView(group), previousLevel, revision: ++this.#revision };
  }

  #configure(node: Node, level: Level | undefined): void {
    const isRoot = node === this.#tree.root;
    this.#bindings.configure(node, level ?? (isRoot ? (node.baseline ?? "INFO") : undefined));
  }

  #createNode(name: string): Node {
    const missing = this.#tree.missing(name);
    if (this.#created + missing > this.#maxCreated || this.#tree.size + missing > this.#maxLoggers) {
      const message = `${this.#created} loggers exist only because a level was set on their name; no more are created. Use the name of a logger that is listed.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_CREATED_LOGGERS", message, { field: "name" });
    }
    this.#created += missing;
    const node = this.#tree.ensure(name);
    let at: Node | undefined = node;
    for (let added = missing; added > 0; added--) {
      at!.created = true;
      at = at!.parent as Node | undefined;
    }
    return node;
  }

  #host(kind: string, handles: Set<LoggerHandle>): LoggerHost {
    const bindings = this.#bindings;
    return {
      discovered: (text, handle, configured) => {
        const node = this.#find(text);
        if (node === undefined) return false;
        handles.add(handle);
        if (configured !== undefined && node.bindings === undefined && node.baseline === undefined) {
          node.baseline = configured;
          if (node === this.#tree.root || node.configured === undefined) bindings.configure(node, configured);
        }
        bindings.add(node, handle, kind, configured);
        if (node.bindings!.length === 1) this.#revision++;
        return true;
      },
      gone: (handle) => {
        if (handles.delete(handle)) bindings.remove(handle);
      },
      changedOutside: (handle, level) => {
        const binding = bindings.get(handle);
        if (binding === undefined) return;
        bindings.configure(binding.node, level);
        bindings.reclaim(binding, level);
        this.#revision++;
      },
      get pushing() {
        return bindings.pushing;
      },
      warn: (text, message) => {
        const node = this.#find(text);
        if (node !== undefined) this.#warnings.add(node.name, message);
      },
    };
  }

  /** The node of a name that a library uses, added where it is new; undefined where it cannot be taken. */
  #find(text: string): Node | undefined {
    let name: string;
    try {
      name = loggerName(text);
    } catch {
      this.#warnings.add(ROOT, "a logger with an unfit name is not managed");
      return undefined;
    }
    if (this.#tree.size + this.#tree.missing(name) > this.#maxLoggers) {
      this.#warnings.add(ROOT, `more than ${this.#maxLoggers} loggers: the rest is not managed`);
      return undefined;
    }
    const node = this.#tree.ensure(name);
    for (let at: Node | undefined = node; at?.created; at = at.parent as Node | undefined) {
      at.created = false;
      this.#created--;
    }
    return node;
  }

  #sorted(): readonly Node[] {
    if (this.#sortedNodes.length !== this.#tree.size) {
      const [root, ...rest] = this.#tree.nodes();
      this.#sortedNodes = [root!, ...rest.sort((a, b) => (a.name < b.name ? -1 : 1))];
    }
    return this.#sortedNodes;
  }

  #logger(node: Node): Logger {
    return {
      type: "logger",
      name: node.name,
      configuredLevel: node.configured,
      effectiveLevel: effectiveLevel(node),
      baselineLevel: node.baseline,
      kind: node.bindings?.[0]?.kind ?? "",
      warnings: this.#warnings.of(node.name),
    };
  }
}

function groupView(group: Group): LoggerGroup {
  return { type: "group", name: group.name, configuredLevel: group.configured, members: group.members };
}
