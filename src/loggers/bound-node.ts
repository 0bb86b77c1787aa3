import type { LoggerHandle } from "./adapter.ts";
import type { Level } from "./level.ts";
import type { Override } from "./setting.ts";
import type { NameNode } from "./tree.ts";

/** A name with its native loggers. */
export interface BoundNode extends NameNode {
  readonly parent: BoundNode | undefined;
  /** Set while an operator decides the level of this name: `configured` or, if that is undefined, the level it would inherit. */
  override: Override | undefined;
  /** The level that an operator set. */
  configured: Level | undefined;
  /** The first native logger of this name. Each refers to the next one. */
  bindings: Binding | undefined;
  /** The bindings that this name's level was pushed to. */
  pushed: Set<Binding> | undefined;
}

/** A native logger and its place in the tree. */
export interface Binding {
  readonly node: BoundNode;
  readonly handle: LoggerHandle;
  readonly kind: string;
  /** The level that the application set on the native logger itself; undefined if it inherits. */
  own: Level | undefined;
  /** The level that it had set when the logger was found. */
  readonly initial: Level | undefined;
  /** The binding that this one follows natively. */
  leader: Binding | undefined;
  /** Whether the leader's name is no ancestor of its name: then a level that is set on the leader must not reach it. */
  isStray: boolean;
  /** The bindings whose leader is this one; undefined if there are none. */
  followers: Set<Binding> | undefined;
  /** Whether a level was pushed to it. Since then it no longer follows its leader by itself. */
  detached: boolean;
  /** The name whose level was pushed to it; undefined while it has the level that the application gave it. */
  source: BoundNode | undefined;
  previous: Binding | undefined;
  next: Binding | undefined;
}

/** Adds a binding to its node, as the last one: a leader comes before its followers. */
export function append(node: BoundNode, binding: Binding): void {
  const last = node.bindings?.previous;
  if (last === undefined) {
    node.bindings = binding;
    binding.previous = binding;
  } else {
    last.next = binding;
    binding.previous = last;
    node.bindings!.previous = binding;
  }
}

/** Removes a binding from its node. */
export function unlink(node: BoundNode, binding: Binding): void {
  const { previous, next } = binding;
  if (node.bindings === binding) node.bindings = next;
  else previous!.next = next;
  if (next !== undefined) next.previous = previous;
  else if (node.bindings !== undefined) node.bindings.previous = previous;
}
