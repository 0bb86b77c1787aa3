import { ActuatorError } from "../common/error.ts";
import type { Detach, LoggerAdapter, LoggerHandle, LoggerHost } from "./adapter.ts";
import { Bindings, type BoundNode, isShownBeside } from "./binding.ts";
import type { Level } from "./level.ts";
import { loggerName, parentName, ROOT } from "./name.ts";
import type { Configurable } from "./setting.ts";
import { LevelTree } from "./tree.ts";

/** One name with everything that is known about it. */
export interface LoggerNode extends BoundNode, Configurable {
  /** The level that the application had configured when the name was found. */
  baseline: Level | undefined;
  /** Whether it exists only because a level was set on it or on a name below it. */
  created: boolean;
}

/** The limits on the number of loggers. */
export interface RegistryLimits {
  readonly maxCreated: number;
  readonly maxLoggers: number;
}

/** The events of the registry. */
export interface RegistryEvents {
  /** A name is about to be added to the tree; its first level can be set on the node. */
  added(node: LoggerNode): void;
  /** What is shown of the loggers has changed, other than by a change of level. */
  changed(): void;
  /** A logger was found for the first time, with a level that the application had set on it. */
  foundConfigured(node: LoggerNode, level: Level): void;
  /** The application has set a level itself, or removed it (undefined). */
  setOutside(node: LoggerNode, level: Level | undefined): void;
}

const none: readonly LoggerNode[] = [];

/** How long what was read from the libraries stays current. */
const REFRESH_AFTER_MS = 1_000;

/** An adapter can report to one host only. */
const attached = new WeakSet<LoggerAdapter>();

/** All loggers: one tree of names, and the native loggers whose levels follow it. */
export class LoggerRegistry {
  readonly warnings: Warnings;
  readonly #tree = new LevelTree<LoggerNode>("INFO", ({ name, parent, children, configured }) => {
    const node = {
      name,
      parent: parent as LoggerNode | undefined,
      children,
      configured,
      bindings: undefined,
      pushed: undefined,
      override: undefined,
      permanent: undefined,
      temporary: undefined,
      baseline: undefined,
      created: false,
    } as LoggerNode;
    if (parent !== undefined) this.#events.added(node);
    return node;
  });
  readonly #bindings = new Bindings((node, error) => this.warnings.add(node.name, `level not applied: ${error}`));
  /** The adapters of libraries that do not announce changes. */
  readonly #refreshable = new Set<LoggerAdapter>();
  readonly #limits: RegistryLimits;
  readonly #events: RegistryEvents;
  #created = 0;
  #sortedNodes: readonly LoggerNode[] = [];
  #lastRefresh = Number.NEGATIVE_INFINITY;

  constructor(limits: RegistryLimits, events: RegistryEvents) {
    this.#limits = limits;
    this.#events = events;
    this.warnings = new Warnings(() => events.changed());
  }

  get root(): LoggerNode {
    return this.#tree.root;
  }

  /** Manages the loggers of a library until the returned function is called. */
  attach(adapter: LoggerAdapter): Detach {
    if (attached.has(adapter)) {
      const message = `This ${adapter.kind} adapter is already attached; make one for each actuator.`;
      throw new ActuatorError("FAILED_PRECONDITION", "ADAPTER_ATTACHED", message, { field: "adapters" });
    }
    const handles = new Set<LoggerHandle>();
    const detach = adapter.attach(this.#host(adapter.kind, handles));
    if (adapter.refresh !== undefined) this.#refreshable.add(adapter);
    attached.add(adapter);
    return () => {
      attached.delete(adapter);
      detach();
      this.#refreshable.delete(adapter);
      for (const handle of handles) this.#bindings.remove(handle);
      this.#events.changed();
    };
  }

  /** Reads the libraries that do not announce changes, at most once a second. */
  refresh(): void {
    if (this.#refreshable.size === 0) return;
    const now = performance.now();
    if (now - this.#lastRefresh < REFRESH_AFTER_MS) return;
    this.#lastRefresh = now;
    for (const adapter of this.#refreshable) adapter.refresh?.();
  }

  get(name: string): LoggerNode | undefined {
    return this.#tree.get(name);
  }

  /** The node of this name or, if it is not known, of its nearest known ancestor. */
  nearest(name: string): LoggerNode {
    let at = name;
    for (;;) {
      const node = this.#tree.get(at);
      if (node !== undefined) return node;
      at = parentName(at);
    }
  }

  /** The nodes directly below a name; none if the name is not known. */
  childrenOf(name: string): readonly LoggerNode[] {
    return (this.#tree.get(name)?.children as LoggerNode[] | undefined) ?? none;
  }

  /** The node of a name in the configuration, which is added if it is new. */
  ensure(name: string): LoggerNode {
    return this.#tree.ensure(name);
  }

  /**
   * The node of a name on which an operator sets a level.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED if too many loggers exist only because a level was set on their name.
   */
  getOrCreate(name: string): LoggerNode {
    const missing = this.#tree.missing(name);
    const { maxCreated, maxLoggers } = this.#limits;
    if (missing > 0 && (this.#created + missing > maxCreated || this.#tree.size + missing > maxLoggers)) {
      const message = `${this.#created} loggers exist only because a level was set on their name; no more are created. Use the name of a logger that is listed.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_CREATED_LOGGERS", message, { field: "name" });
    }
    return this.#create(name);
  }

  /** The node of a name whose level was stored; undefined if there are too many loggers. */
  getOrCreateStored(name: string): LoggerNode | undefined {
    return this.#tree.size + this.#tree.missing(name) > this.#limits.maxLoggers ? undefined : this.#create(name);
  }

  /** Sets or clears the level of a node, and pushes it to the native loggers. */
  configure(node: LoggerNode, level: Level | undefined): void {
    this.#bindings.configure(node, level);
  }

  /** All nodes, ROOT first, then by UTF-16 code unit. */
  sorted(): readonly LoggerNode[] {
    if (this.#sortedNodes.length !== this.#tree.size) {
      const [root, ...rest] = this.#tree.nodes();
      this.#sortedNodes = [root!, ...rest.sort((a, b) => (a.name < b.name ? -1 : 1))];
    }
    return this.#sortedNodes;
  }

  #create(name: string): LoggerNode {
    const missing = this.#tree.missing(name);
    this.#created += missing;
    const node = this.#tree.ensure(name);
    for (let at = node, added = missing; added > 0; added--, at = at.parent as LoggerNode) at.created = true;
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
          this.#events.foundConfigured(node, configured);
        }
        const binding = bindings.add(node, handle, kind, configured);
        if (!isShownBeside(binding)) this.#events.changed();
        return true;
      },
      gone: (handle) => {
        const binding = bindings.get(handle);
        if (!handles.delete(handle) || binding === undefined) return;
        const unseen = isShownBeside(binding);
        bindings.remove(handle);
        if (!unseen) this.#events.changed();
      },
      changedOutside: (handle, level) => {
        const binding = bindings.get(handle);
        if (binding === undefined) return;
        this.#events.setOutside(binding.node as LoggerNode, level);
        bindings.reclaim(binding);
      },
      get pushing() {
        return bindings.pushing;
      },
      warn: (text, message) => {
        const node = this.#find(text);
        if (node !== undefined) this.warnings.add(node.name, message);
      },
      retract: (text, message) => {
        const node = this.#find(text);
        if (node !== undefined) this.warnings.delete(node.name, message);
      },
    };
  }

  /** The node of a name that a library uses, added if it is new; undefined if it is not managed. */
  #find(text: string): LoggerNode | undefined {
    let name: string;
    try {
      name = loggerName(text);
    } catch {
      this.warnings.add(ROOT, "a logger with an invalid name is not managed");
      return undefined;
    }
    const { maxLoggers } = this.#limits;
    if (this.#tree.size + this.#tree.missing(name) > maxLoggers) {
      this.warnings.add(ROOT, `more than ${maxLoggers} loggers: the rest is not managed`);
      return undefined;
    }
    const node = this.#tree.ensure(name);
    for (let at: LoggerNode | undefined = node; at?.created; at = at.parent as LoggerNode | undefined) {
      at.created = false;
      this.#created--;
    }
    return node;
  }
}

const MAX_WARNINGS = 1_000;
const noWarnings: readonly string[] = [];

/**
 * The warnings shown on loggers, each once a name and at most 1,000 in all. ROOT, which shows warnings about the whole, has a
 * limit of its own, so that many other warnings cannot hide them.
 */
export class Warnings {
  readonly #byName = new Map<string, string[]>();
  readonly #onChange: () => void;
  #count = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  add(name: string, message: string): void {
    const messages = this.#byName.get(name) ?? [];
    if (messages.includes(message)) return;
    if (name === ROOT && messages.length >= MAX_WARNINGS) return;
    if (name !== ROOT && this.#count >= MAX_WARNINGS) {
      this.add(ROOT, `more than ${MAX_WARNINGS} warnings of loggers: the rest is not shown`);
      return;
    }
    if (name !== ROOT) this.#count++;
    this.#byName.set(name, [...messages, message]);
    this.#onChange();
  }

  /** Removes a warning that no longer applies. */
  delete(name: string, message: string): void {
    const messages = this.#byName.get(name);
    if (messages?.includes(message) !== true) return;
    if (name !== ROOT) this.#count--;
    const left = messages.filter((each) => each !== message);
    if (left.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, left);
    this.#onChange();
  }

  of(name: string): readonly string[] {
    return this.#byName.get(name) ?? noWarnings;
  }
}
