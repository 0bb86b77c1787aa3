import type { LoggerHandle } from "./adapter.ts";
import { append, type Binding, type BoundNode, unlink } from "./bound-node.ts";
import { type Level, moreVerbose } from "./level.ts";
import { effectiveLevel, isConfiguredByApplication, operatorLevel } from "./node-levels.ts";
import { isAncestorOrSelf, visitBelow } from "./tree.ts";

/**
 * Pushes the levels that operators set into native loggers, and takes them back, with as few pushes as possible. A native logger
 * that no such level applies to is never touched.
 *
 * If a library's inheritance is live, a native logger that follows the logger of an ancestor needs no push until a level is set
 * between the two names. So each name keeps the set of bindings that its level was pushed to, and another level costs only that
 * set: one push for a hundred thousand pino loggers that follow their root.
 */
export class Bindings {
  readonly #byHandle = new Map<LoggerHandle, Binding>();
  /** The bindings that a level on ROOT does not reach through another one. */
  readonly #individual = new Set<Binding>();
  /** The bindings whose level comes from above a cleared name, where the application's levels count as well. */
  readonly #inheriting = new Set<Binding>();
  readonly #onFailure: (node: BoundNode, error: unknown) => void;
  #pushing = false;

  /** `onFailure` is called if a native logger throws. The other loggers are changed all the same. */
  constructor(onFailure: (node: BoundNode, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** True while a level is being pushed or taken back. */
  get pushing(): boolean {
    return this.#pushing;
  }

  get(handle: LoggerHandle): Binding | undefined {
    return this.#byHandle.get(handle);
  }

  /** Binds a native logger to its name, and gives it the level that an operator has set for it, if any. */
  add(node: BoundNode, handle: LoggerHandle, kind: string, own: Level | undefined): Binding {
    const leader = handle.parent && this.#byHandle.get(handle.parent);
    const binding: Binding = {
      node,
      handle,
      kind,
      own,
      initial: own,
      leader: undefined,
      isStray: false,
      followers: undefined,
      detached: false,
      source: undefined,
      previous: undefined,
      next: undefined,
    };
    if (leader !== undefined) follow(binding, leader);
    this.#byHandle.set(handle, binding);
    append(node, binding);
    if (!isFollowing(binding) || binding.isStray) this.#individual.add(binding);
    this.#settle(binding);
    if (binding.isStray && isPushed(leader!)) this.#shield(binding);
    if (own !== undefined) this.#settleInheriting();
    return binding;
  }

  /** Forgets a native logger, which no longer exists. Its followers then follow its leader, unless it had a level of its own. */
  remove(handle: LoggerHandle): void {
    const binding = this.#byHandle.get(handle);
    if (binding === undefined) return;
    const { leader } = binding;
    this.#drop(binding);
    leader?.followers?.delete(binding);
    const heir = binding.own === undefined && !binding.detached ? leader : undefined;
    for (const orphan of binding.followers ?? []) {
      orphan.leader = undefined;
      this.#individual.add(orphan);
      if (heir !== undefined) follow(orphan, heir);
      this.#settle(orphan);
    }
    if (binding.own !== undefined) this.#settleInheriting();
  }

  /** Forgets all these native loggers, whose library is no longer managed. They keep their levels. */
  forget(handles: Iterable<LoggerHandle>): void {
    for (const handle of handles) {
      const binding = this.#byHandle.get(handle);
      if (binding !== undefined) this.#drop(binding);
    }
  }

  #drop(binding: Binding): void {
    this.#byHandle.delete(binding.handle);
    this.#inheriting.delete(binding);
    this.#individual.delete(binding);
    binding.source?.pushed?.delete(binding);
    unlink(binding.node, binding);
  }

  /** Applies what an operator has set on a node, or no longer sets, to the native loggers that it concerns. */
  configured(node: BoundNode): void {
    if (node.parent === undefined) for (const binding of this.#individual) this.#settleOnChange(binding);
    else this.#settleBelow(node);
    this.#settleInheriting();
  }

  #settleBelow(node: BoundNode): void {
    visitBelow(node, (at) => {
      if (at !== node && operatorLevel(at) !== undefined) return false;
      for (let binding = at.bindings; binding !== undefined; binding = binding.next) {
        const { leader, isStray } = binding;
        // One that follows a logger below the node, or at it, gets its level from that one.
        const isServed = isFollowing(binding) && !isStray && isAncestorOrSelf(node, leader!.node);
        if (!isServed) this.#settleOnChange(binding);
      }
      return true;
    });
  }

  /** Pushes the level of a node, which an operator has replaced by another one, to the native loggers that had the former. */
  pushAgain(node: BoundNode): void {
    const level = sourceLevel(node);
    for (const binding of node.pushed ?? []) this.#push(binding, level);
    this.#settleInheriting();
  }

  /** Notes the level that the application set on a native logger, or removed (undefined). The logger has it already. */
  adopt(binding: Binding, own: Level | undefined): void {
    binding.own = own;
    if (own === undefined) return;
    this.#individual.add(binding);
    this.#note(binding, undefined);
  }

  /** Settles what follows from {@link adopt}. */
  settleAround(binding: Binding): void {
    this.#settle(binding);
    this.#settleFollowers(binding);
    this.#settleInheriting();
  }

  /** Ancestors come first, because others may inherit from them. */
  #settleInheriting(): void {
    if (this.#inheriting.size === 0) return;
    const sorted = [...this.#inheriting].sort((a, b) => a.node.key.length - b.node.key.length);
    for (const binding of sorted) this.#settle(binding);
  }

  #settleFollowers(leader: Binding): void {
    for (const follower of leader.followers ?? []) {
      if (follower.own !== undefined) continue;
      const { source } = follower;
      this.#settle(follower);
      if (follower.detached && source === undefined && follower.source === undefined) this.#restore(follower);
      this.#settleFollowers(follower);
    }
  }

  /** A level that the application is about to report is not to be replaced by one that applied before. */
  #settleOnChange(binding: Binding): void {
    const source = sourceOf(binding);
    if (source !== binding.source) this.#settle(binding, source);
    else if (source !== undefined && isBelowCleared(binding, source)) this.#inheriting.add(binding);
    else this.#inheriting.delete(binding);
  }

  #settle(binding: Binding, source = sourceOf(binding)): void {
    const isInheriting = source !== undefined && isBelowCleared(binding, source);
    if (source !== binding.source) {
      if (isFollowing(binding) && !isInheriting && source === sourceOf(binding.leader!)) return;
      this.#note(binding, source);
      if (source === undefined) this.#restore(binding);
    }
    if (source === undefined) return;
    if (isInheriting) this.#inheriting.add(binding);
    this.#push(binding, sourceLevel(source));
  }

  #note(binding: Binding, source: BoundNode | undefined): void {
    this.#inheriting.delete(binding);
    binding.source?.pushed?.delete(binding);
    binding.source = source;
    if (source !== undefined) (source.pushed ??= new Set()).add(binding);
  }

  #push(binding: Binding, level: Level): void {
    // Below ROOT, no name keeps what is set there away from a stray.
    if (binding.node.parent !== undefined) this.#shieldStrays(binding);
    this.#detach(binding);
    this.#do(binding, () => binding.handle.apply(level));
  }

  /** Keeps a level that is about to be pushed away from the strays that would follow it. */
  #shieldStrays(leader: Binding): void {
    for (const follower of leader.followers ?? []) {
      if (!isFollowing(follower)) continue;
      if (follower.isStray) this.#shield(follower);
      else this.#shieldStrays(follower);
    }
  }

  /** Gives a stray by itself the level that it has as a follower. */
  #shield(binding: Binding): void {
    this.#detach(binding);
    const source = sourceOf(binding);
    if (source === undefined) this.#restore(binding);
    else this.#settle(binding);
  }

  #detach(binding: Binding): void {
    binding.detached = true;
    this.#individual.add(binding);
  }

  #restore(binding: Binding): void {
    this.#do(binding, () => binding.handle.restore());
  }

  #do(binding: Binding, change: () => void): void {
    this.#pushing = true;
    try {
      change();
    } catch (error) {
      this.#onFailure(binding.node, error);
    } finally {
      this.#pushing = false;
    }
  }
}

function follow(binding: Binding, leader: Binding): void {
  binding.leader = leader;
  binding.isStray = !isAncestorOrSelf(leader.node, binding.node);
  (leader.followers ??= new Set()).add(binding);
}

/** Whether a native logger, or one that it follows, has a level that was pushed. */
function isPushed(binding: Binding): boolean {
  return binding.source !== undefined || (isFollowing(binding) && isPushed(binding.leader!));
}

/** Whether the native logger still follows its leader by itself. */
function isFollowing({ leader, own, detached }: Binding): boolean {
  return leader !== undefined && own === undefined && !detached;
}

/**
 * The name whose level applies to a native logger. It is the nearest one, from its own upwards, on which an operator set a level;
 * undefined if there is none, or if the application set a level on the logger, or on one that it follows, at a nearer name. A
 * name that an operator cleared counts as if the application had set nothing there, and the next name above with a level applies.
 */
function sourceOf(binding: Binding): BoundNode | undefined {
  let at = binding;
  let isCleared = false;
  for (let node: BoundNode | undefined = binding.node; node !== undefined; node = node.parent) {
    if (node.override !== undefined) {
      if (node.configured !== undefined) return node;
      isCleared = true;
    } else if (isCleared) {
      if (node.parent === undefined || isConfiguredByApplication(node)) return node;
    } else {
      while (at.own === undefined && at.leader?.node === node) at = at.leader;
      if (at.own !== undefined && at.node === node) return undefined;
    }
  }
  return undefined;
}

function isBelowCleared({ node }: Binding, source: BoundNode): boolean {
  for (let at = node; at !== source; at = at.parent!) if (at.override !== undefined) return true;
  return false;
}

/** The level to push: the operator's or, for a name below that was cleared, the most verbose one of the application's. */
function sourceLevel(source: BoundNode): Level {
  const level = operatorLevel(source);
  if (level !== undefined) return level;
  let most: Level | undefined;
  for (let at = source.bindings; at !== undefined; at = at.next) {
    if (at.own !== undefined) most = moreVerbose(most, at.own);
  }
  return most ?? effectiveLevel(source);
}
