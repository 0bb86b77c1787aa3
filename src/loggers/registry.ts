import { ActuatorError } from "../common/error.ts";
import type { Detach, LoggerAdapter, LoggerHandle, LoggerHost } from "./adapter.ts";
import { Bindings } from "./bindings.ts";
import type { BoundNode } from "./bound-node.ts";
import type { Level } from "./level.ts";
import { loggerName, parentName, ROOT } from "./name.ts";
import { differentLevels, effectiveLevel, isShownBeside } from "./node-levels.ts";
import type { Configurable, Setting } from "./setting.ts";
import { NameTree } from "./tree.ts";

/** One name with everything that is known about it. */
export interface LoggerNode extends BoundNode, Configurable {
  readonly parent: LoggerNode | undefined;
  override: Configurable["override"];
  configured: Level | undefined;
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
  /** Whether a name has to stay known although there is neither a logger nor a level of it. */
  isKept(node: LoggerNode): boolean;
  /** What is shown of the loggers has changed, other than by a change of level. */
  changed(): void;
  /** The application has set a level itself, or removed it (undefined), on one of the loggers of this name. */
  setOutside(node: LoggerNode, previous: Level | undefined, level: Level | undefined): void;
}

const none: ReadonlySet<LoggerNode> = new Set();

/** How long what was read from the libraries stays current. */
const REFRESH_AFTER_MS = 1_000;

/** The warning on a name with loggers that an adapter found late. */
const OLDER_THAN_ADAPTER =
  "was made before the adapter was attached; others of the name that were not used since are not managed";

/** An adapter can report to one host only. */
const attached = new WeakSet<LoggerAdapter>();

/** All loggers: one tree of names, and the native loggers of each. */
export class LoggerRegistry {
  readonly warnings: Warnings;
  readonly #tree = new NameTree<LoggerNode>((bare) => {
    const node: LoggerNode = {
      ...bare,
      parent: bare.parent as LoggerNode | undefined,
      configured: undefined,
      override: undefined,
      bindings: undefined,
      pushed: undefined,
      permanent: undefined,
      temporary: undefined,
      created: false,
    };
    if (node.parent !== undefined) this.#events.added(node);
    return node;
  });
  readonly #bindings = new Bindings((node, error) => this.warnings.add(node.key, `level not applied: ${error}`));
  /** The adapters of libraries that do not announce changes. */
  readonly #refreshable = new Set<LoggerAdapter>();
  /** Those of libraries that do not announce levels. */
  readonly #readable = new Set<LoggerAdapter>();
  readonly #limits: RegistryLimits;
  readonly #events: RegistryEvents;
  #created = 0;
  readonly #cleared = new Set<LoggerNode>();
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
    if (adapter.readLevels !== undefined) this.#readable.add(adapter);
    attached.add(adapter);
    return () => {
      attached.delete(adapter);
      detach();
      this.#refreshable.delete(adapter);
      this.#readable.delete(adapter);
      const nodes = [...handles].flatMap((handle) => this.#bindings.get(handle)?.node ?? []);
      this.#bindings.forget(handles);
      for (const node of nodes) this.prune(node as LoggerNode);
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

  /** Reads the levels that libraries do not announce, before an operator's level comes or goes. */
  readLevels(): void {
    for (const adapter of this.#readable) adapter.readLevels?.();
  }

  get(key: string): LoggerNode | undefined {
    return this.#tree.get(key);
  }

  /** The node of this name or, if it is not known, of its nearest known ancestor. */
  nearest(key: string): LoggerNode {
    let at = key;
    for (;;) {
      const node = this.#tree.get(at);
      if (node !== undefined) return node;
      at = parentName(at);
    }
  }

  /** The nodes directly below a name; none if the name is not known. */
  childrenOf(key: string): ReadonlySet<LoggerNode> {
    return (this.#tree.get(key)?.children as ReadonlySet<LoggerNode> | undefined) ?? none;
  }

  /** The node of a name in the configuration, which is added if it is new. */
  ensure(key: string): LoggerNode {
    return this.#tree.ensure(key);
  }

  /**
   * The node of a name on which an operator sets a level.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED if too many loggers exist only because a level was set on their name.
   */
  getOrCreate(text: string): LoggerNode {
    const missing = this.#tree.missing(loggerName(text));
    if (missing > 0 && !this.#hasRoomFor(missing)) {
      const message = `${this.#created} loggers exist only because a level was set on their name; no more are created. Use the name of a logger that is listed.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_CREATED_LOGGERS", message, { field: "name" });
    }
    return this.#create(text);
  }

  /**
   * Keeps a name known that has neither a logger nor a level any more, because an operator cleared it rather than that its level
   * ended. It leaves when there is no room for others.
   */
  keepCleared(node: LoggerNode): void {
    if (node.created && node.override === undefined) this.#cleared.add(node);
  }

  /** The node of a name whose level was stored; undefined if there are too many loggers. */
  getOrCreateStored(text: string): LoggerNode | undefined {
    return this.#tree.size + this.#tree.missing(loggerName(text)) > this.#limits.maxLoggers
      ? undefined
      : this.#create(text);
  }

  /** Changes what an operator has set on a node, and pushes it to the native loggers. */
  configure(node: LoggerNode, { level, override }: Setting): void {
    const isAnotherLevel = node.configured !== undefined && level !== undefined;
    node.configured = level;
    node.override = override;
    if (isAnotherLevel) this.#bindings.pushAgain(node);
    else this.#bindings.configured(node);
  }

  /** Removes a node, and then its ancestors, if neither a logger, a name below nor a setting needs them any more. */
  prune(node: LoggerNode): void {
    for (let at = node; at.parent !== undefined; at = at.parent) {
      if (at.bindings !== undefined || at.children !== undefined || at.override !== undefined) return;
      if (at.temporary !== undefined || this.#events.isKept(at)) return;
      if (at.created) this.#created--;
      this.#cleared.delete(at);
      this.#tree.remove(at);
      this.warnings.forget(at.key);
    }
  }

  /** All nodes, in no order. */
  nodes(): Iterable<LoggerNode> {
    return this.#tree.nodes();
  }

  /** All nodes, ROOT first, then by UTF-16 code unit. */
  sorted(): readonly LoggerNode[] {
    return this.#tree.sorted();
  }

  /** What an operator should know about a name: its warnings, and how its native loggers differ. */
  warningsOf(node: LoggerNode): readonly string[] {
    const warnings = this.warnings.of(node.key);
    const differing = differentLevels(node);
    return differing === undefined ? warnings : [...warnings, `the loggers of this name differ: ${differing}`];
  }

  #hasRoomFor(missing: number): boolean {
    const { maxCreated, maxLoggers } = this.#limits;
    const fits = () => this.#created + missing <= maxCreated && this.#tree.size + missing <= maxLoggers;
    for (const node of this.#cleared) {
      if (fits()) return true;
      this.#cleared.delete(node);
      this.prune(node);
    }
    return fits();
  }

  /** Whether loggers of this name were made before their adapter was attached. */
  isOlder(node: LoggerNode): boolean {
    return this.warnings.of(node.key).includes(OLDER_THAN_ADAPTER);
  }

  #create(text: string): LoggerNode {
    const key = loggerName(text);
    const missing = this.#tree.missing(key);
    this.#created += missing;
    const node = this.#tree.ensure(key, text);
    for (let at: LoggerNode | undefined = node, added = missing; added > 0; added--, at = at!.parent)
      at!.created = true;
    return node;
  }

  #host(kind: string, handles: Set<LoggerHandle>): LoggerHost {
    const bindings = this.#bindings;
    return {
      discovered: (text, handle, configured) => {
        const node = this.#find(text);
        if (node === undefined) return false;
        handles.add(handle);
        const binding = bindings.add(node, handle, kind, configured);
        if (!isShownBeside(binding)) this.#events.changed();
        return true;
      },
      gone: (handle) => {
        const binding = bindings.get(handle);
        if (!handles.delete(handle) || binding === undefined) return;
        const unseen = isShownBeside(binding);
        bindings.remove(handle);
        this.prune(binding.node as LoggerNode);
        if (!unseen) this.#events.changed();
      },
      changedOutside: (handle, level) => {
        const binding = bindings.get(handle);
        if (binding === undefined) return;
        const previous = binding.own;
        bindings.adopt(binding, level);
        this.#events.setOutside(binding.node as LoggerNode, previous, level);
        bindings.settleAround(binding);
      },
      reachChanged: () => this.#events.changed(),
      levelAbove: (text) => effectiveLevel(this.nearest(parentName(loggerName(text)))),
      get pushing() {
        return bindings.pushing;
      },
      warn: (text, message) => {
        const node = this.#find(text);
        if (node !== undefined) this.warnings.add(node.key, message);
      },
      older: (text) => {
        const node = this.#find(text);
        if (node !== undefined) this.warnings.add(node.key, OLDER_THAN_ADAPTER);
      },
      retract: (text, message) => {
        const node = this.#find(text);
        if (node !== undefined) this.warnings.delete(node.key, message);
      },
    };
  }

  /** The node of a name that a library uses, added if it is new; undefined if it is not managed. */
  #find(text: string): LoggerNode | undefined {
    let key: string;
    try {
      key = loggerName(text);
    } catch {
      this.warnings.add(ROOT, "a logger with an invalid name is not managed");
      return undefined;
    }
    const { maxLoggers } = this.#limits;
    if (this.#tree.size + this.#tree.missing(key) > maxLoggers) {
      this.warnings.add(ROOT, `more than ${maxLoggers} loggers: the rest is not managed`);
      return undefined;
    }
    const node = this.#tree.ensure(key, text);
    for (let at: LoggerNode | undefined = node; at?.created; at = at.parent) {
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

  /** Removes all warnings of a name that no longer exists. */
  forget(name: string): void {
    const messages = this.#byName.get(name);
    if (messages === undefined) return;
    this.#count -= messages.length;
    this.#byName.delete(name);
  }

  of(name: string): readonly string[] {
    return this.#byName.get(name) ?? noWarnings;
  }
}
