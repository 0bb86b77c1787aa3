import type { LoggerHandle } from "./adapter.ts";
import { type Level, levelVerbosity } from "./level.ts";
import { isAncestorOrSelf, type LevelNode, levelSource, visitHeirs } from "./tree.ts";

/** A name with its native loggers. */
export interface BoundNode extends LevelNode {
  readonly parent: BoundNode | undefined;
  children: BoundNode[] | undefined;
  /** The native loggers of this name. */
  bindings: Binding[] | undefined;
  /** On a configured node: the bindings that each new level must be pushed to, because they do not follow another natively. */
  pushed: Set<Binding> | undefined;
}

/** A native logger and its place in the tree. */
export interface Binding {
  readonly node: BoundNode;
  readonly handle: LoggerHandle;
  readonly kind: string;
  /** The binding that this one follows natively until a level is first pushed to it. */
  leader: Binding | undefined;
  /** The bindings whose leader is this one; undefined if there are none. */
  followers: Set<Binding> | undefined;
  /** The level that the last push reached; undefined while the native logger still follows its leader. */
  reached: Level | undefined;
}

/**
 * Pushes levels from the tree into native loggers when they change, with as few pushes as possible.
 *
 * If a library's inheritance is live, a native logger that follows the logger of an ancestor needs no push until a level is set
 * between the two names. So each configured node keeps the set of bindings that do need one, and a change costs only that set:
 * one push for a hundred thousand pino loggers that follow their root.
 */
export class Bindings {
  readonly #byHandle = new Map<LoggerHandle, Binding>();
  readonly #onFailure: (node: BoundNode, error: unknown) => void;
  #pushing = false;

  /** `onFailure` is called if a native logger throws. The other loggers are changed all the same. */
  constructor(onFailure: (node: BoundNode, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** True while a level is being pushed. */
  get pushing(): boolean {
    return this.#pushing;
  }

  get(handle: LoggerHandle): Binding | undefined {
    return this.#byHandle.get(handle);
  }

  /** Binds a native logger to its name and gives it its level. `own` is the native level that it has by itself, if any. */
  add(node: BoundNode, handle: LoggerHandle, kind: string, own: Level | undefined): Binding {
    const above = handle.parent && this.#byHandle.get(handle.parent);
    const leader = above !== undefined && isAncestorOrSelf(above.node, node) ? above : undefined;
    const binding: Binding = { node, handle, kind, leader: undefined, followers: undefined, reached: own };
    if (leader !== undefined) follow(binding, leader);
    this.#byHandle.set(handle, binding);
    (node.bindings ??= []).push(binding);
    this.#settle(binding, levelSource(node));
    return binding;
  }

  /** Forgets a native logger. Its followers then follow its leader, or are pushed to if it has none. */
  remove(handle: LoggerHandle): void {
    const binding = this.#byHandle.get(handle);
    if (binding === undefined) return;
    const { node, leader } = binding;
    this.#byHandle.delete(handle);
    levelSource(node).pushed?.delete(binding);
    const rest = node.bindings!.filter((other) => other !== binding);
    node.bindings = rest.length === 0 ? undefined : rest;
    leader?.followers?.delete(binding);
    const heir = binding.reached === undefined ? leader : undefined;
    for (const orphan of binding.followers ?? []) {
      orphan.leader = undefined;
      if (heir !== undefined) follow(orphan, heir);
      else this.#settle(orphan, levelSource(orphan.node));
    }
  }

  /** Sets or clears (undefined) the level of a node and pushes it to the native loggers that inherit from it. */
  configure(node: BoundNode, level: Level | undefined): void {
    const before = node.configured;
    if (before === undefined && level === undefined) return;
    const pushed = node.pushed;
    node.configured = level;
    if (level === undefined) {
      node.pushed = undefined;
      const source = levelSource(node);
      for (const binding of pushed ?? []) this.#settle(binding, source);
    } else if (before === undefined) {
      const source = node.parent && levelSource(node.parent);
      node.pushed = new Set();
      visitHeirs(node, (heir) => {
        for (const binding of heir.bindings ?? []) {
          source?.pushed?.delete(binding);
          this.#settle(binding, node as BoundNode & { configured: Level });
        }
      });
    } else {
      for (const binding of pushed ?? []) this.#push(binding, level);
    }
  }

  /** Pushes the right level again to a binding whose native level the application has set. */
  reclaim(binding: Binding): void {
    const source = levelSource(binding.node);
    binding.reached = source.configured;
    this.#settle(binding, source);
  }

  #settle(binding: Binding, source: BoundNode & { configured: Level }): void {
    const { leader } = binding;
    // A native logger that once got a level of its own keeps one, because removing it would make the object slower.
    if (binding.reached === undefined && leader !== undefined && levelSource(leader.node) === source) return;
    (source.pushed ??= new Set()).add(binding);
    this.#push(binding, source.configured);
  }

  #push(binding: Binding, level: Level): void {
    binding.reached = level;
    this.#pushing = true;
    try {
      binding.reached = binding.handle.apply(level);
    } catch (error) {
      this.#onFailure(binding.node, error);
    } finally {
      this.#pushing = false;
    }
  }
}

function follow(binding: Binding, leader: Binding): void {
  binding.leader = leader;
  (leader.followers ??= new Set()).add(binding);
}

/** The level really in effect on a name: the most verbose one of its native loggers, or that of the tree if it has none. */
export function effectiveLevel(node: BoundNode): Level {
  let most: Level | undefined;
  for (const binding of node.bindings ?? []) {
    const reached = reachedLevel(binding);
    if (most === undefined || levelVerbosity(reached) > levelVerbosity(most)) most = reached;
  }
  return most ?? levelSource(node).configured;
}

/** Whether another native logger of the name has the same kind and level, so that this one does not change what is shown. */
export function isShownBeside(binding: Binding): boolean {
  const first = binding.node.bindings?.find((other) => other !== binding);
  return first !== undefined && first.kind === binding.kind && reachedLevel(first) === reachedLevel(binding);
}

function reachedLevel(binding: Binding): Level {
  let at = binding;
  while (at.reached === undefined) at = at.leader!;
  return at.reached;
}
