import { ActuatorError } from "../common/error.ts";
import type { Detach, LoggerAdapter, LoggerHandle, LoggerHost } from "./adapter.ts";
import { Bindings, type BoundNode, isShownBeside } from "./binding.ts";
import type { Level } from "./level.ts";
import { loggerName, parentName, ROOT } from "./name.ts";
import { Refresh } from "./refresh.ts";
import type { Configurable } from "./setting.ts";
import { LevelTree } from "./tree.ts";
import { Warnings } from "./warnings.ts";

/** One name, with everything that is known of it. */
export interface LoggerNode extends BoundNode, Configurable {
  /** What the application itself had configured when the name was found. */
  baseline: Level | undefined;
  /** Known only because somebody asked for the name or for one below it. */
  created: boolean;
}

/** How many loggers there may be. */
export interface RegistryLimits {
  readonly maxCreated: number;
  readonly maxLoggers: number;
}

/** What the registry tells its owner. */
export interface RegistryEvents {
  /** A name is about to join the tree, without children or native loggers: it may be given what it is to begin with. */
  appeared(node: LoggerNode): void;
  /** What is shown of the loggers is not what it was, other than by a change of level. */
  changed(): void;
  /** The application has configured this level at the logger's birth. */
  born(node: LoggerNode, level: Level): void;
  /** The application has set a level past us; undefined: it took the level away. */
  setOutside(node: LoggerNode, level: Level | undefined): void;
}

const none: readonly LoggerNode[] = [];

/** An adapter tells one host of what it finds. */
const attached = new WeakSet<LoggerAdapter>();

/** Which loggers exist, in one tree of names, and the native loggers that obey it. */
export class LoggerRegistry {
  readonly warnings: Warnings;
  readonly #tree = new LevelTree<LoggerNode>("INFO", ({ name, parent, children, configured }) => {
    const life = { override: undefined, beneath: undefined, temporary: undefined, baseline: undefined, created: false };
    const node = {
      name,
      parent: parent as LoggerNode | undefined,
      children,
      configured,
      bindings: undefined,
      pushed: undefined,
      ...life,
    } as LoggerNode;
    if (parent !== undefined) this.#events.appeared(node);
    return node;
  });
  readonly #bindings = new Bindings((node, error) => this.warnings.add(node.name, `level not applied: ${error}`));
  readonly #refresh = new Refresh();
  readonly #limits: RegistryLimits;
  readonly #events: RegistryEvents;
  #created = 0;
  #sortedNodes: readonly LoggerNode[] = [];

  constructor(limits: RegistryLimits, events: RegistryEvents) {
    this.#limits = limits;
    this.#events = events;
    this.warnings = new Warnings(() => events.changed());
  }

  get root(): LoggerNode {
    return this.#tree.root;
  }

  /** Lets a logging library take part, until the returned function is called. */
  attach(adapter: LoggerAdapter): Detach {
    if (attached.has(adapter)) {
      const message = `This adapter of ${adapter.kind} is attached already: make one for each actuator.`;
      throw new ActuatorError("FAILED_PRECONDITION", "ADAPTER_ATTACHED", message, { field: "adapters" });
    }
    const handles = new Set<LoggerHandle>();
    const detach = adapter.attach(this.#host(adapter.kind, handles));
    this.#refresh.add(adapter);
    attached.add(adapter);
    return () => {
      attached.delete(adapter);
      detach();
      this.#refresh.delete(adapter);
      for (const handle of handles) this.#bindings.remove(handle);
      this.#events.changed();
    };
  }

  /** Asks the libraries that tell of nothing. */
  refresh(): void {
    this.#refresh.run();
  }

  get(name: string): LoggerNode | undefined {
    return this.#tree.get(name);
  }

  /** The node of this name or, where it is not known, of its nearest known ancestor. */
  nearest(name: string): LoggerNode {
    let at = name;
    for (;;) {
      const node = this.#tree.get(at);
      if (node !== undefined) return node;
      at = parentName(at);
    }
  }

  /** The nodes directly below a name; none where it is not known. */
  childrenOf(name: string): readonly LoggerNode[] {
    return (this.#tree.get(name)?.children as LoggerNode[] | undefined) ?? none;
  }

  /** The node of a name that the configuration holds. */
  ensure(name: string): LoggerNode {
    return this.#tree.ensure(name);
  }

  /** @throws ActuatorError RESOURCE_EXHAUSTED where too many loggers exist only because somebody asked for them. */
  getOrCreate(name: string): LoggerNode {
    const missing = this.#tree.missing(name);
    const { maxCreated, maxLoggers } = this.#limits;
    if (missing > 0 && (this.#created + missing > maxCreated || this.#tree.size + missing > maxLoggers)) {
      const message = `${this.#created} loggers exist only because a level was set on their name; no more are created. Use the name of a logger that is listed.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_CREATED_LOGGERS", message, { field: "name" });
    }
    return this.#create(name);
  }

  /** The node of a name whose level was stored; undefined where there may be no more loggers. */
  recall(name: string): LoggerNode | undefined {
    return this.#tree.size + this.#tree.missing(name) > this.#limits.maxLoggers ? undefined : this.#create(name);
  }

  /** Sets or clears the level of a node and pushes what follows from it. */
  configure(node: LoggerNode, level: Level | undefined): void {
    this.#bindings.configure(node, level);
  }

  /** ROOT first, then by UTF-16 code unit. */
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
          this.#events.born(node, configured);
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

  /** The node of a name that a library uses, added where it is new; undefined where it cannot be taken. */
  #find(text: string): LoggerNode | undefined {
    let name: string;
    try {
      name = loggerName(text);
    } catch {
      this.warnings.add(ROOT, "a logger with an unfit name is not managed");
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
