import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import { dotted } from "../../loggers/name.ts";
import type { NameFilter } from "./filter.ts";
import type { LoggerTree, TreeNode } from "./tree.ts";

export type Only = "all" | "configured" | "changed";

/** One row. Rows of the same thing have the same `id`, wherever they stand. */
export interface Row {
  readonly id: string;
  /** 1 for the outermost. */
  readonly depth: number;
  /** Undefined: nothing below. */
  readonly isOpen: boolean | undefined;
  /** Shown only because of what is below. */
  readonly isPath: boolean;
  /** The logger of the row, or the name between loggers; undefined for a group and for a member that stands for many. */
  readonly node: TreeNode | undefined;
  readonly group: LoggerGroup | undefined;
  /** What the row shows instead of the name of its node: the whole name in a list, the pattern of a group's member. */
  readonly text: string | undefined;
}

export interface Listing {
  readonly rows: readonly Row[];
  /** How many loggers pass the filter, without regard to `only`; among the changed ones are groups, too. */
  readonly counts: Readonly<Record<Only, number>>;
}

export interface Asked {
  readonly filter: NameFilter | undefined;
  readonly only: Only;
  readonly isFlat: boolean;
  /** The rows that the operator has opened and closed, by id. */
  readonly open: ReadonlyMap<string, boolean>;
}

/** Trees up to this size are open at first. */
const MAX_OPEN_AT_FIRST = 200;

/** The rows to show, all of them: the view takes those that are in sight. */
export function listing(tree: LoggerTree, groups: Iterable<LoggerGroup>, asked: Asked): Listing {
  const { filter, only } = asked;
  const counts = { all: 0, configured: 0, changed: 0 };
  const passes = (subject: Logger | LoggerGroup): boolean => {
    const [isConfigured, isChanged] = [subject.configuredLevel !== Level.UNSPECIFIED, subject.override !== undefined];
    const isLogger = !("members" in subject);
    if (isLogger) counts.all++;
    if (isLogger && isConfigured) counts.configured++;
    if (isChanged) counts.changed++;
    return only === "all" || (only === "configured" ? isConfigured : isChanged);
  };
  const rows: Row[] = [];
  for (const group of groups) {
    const isNamed =
      filter === undefined || filter.matches(group.name) || group.members.some((each) => filter.matches(dotted(each)));
    if (isNamed && passes(group)) addGroup(rows, group, tree, asked);
  }
  const isSelective = filter !== undefined || only !== "all";
  const kept = new Set<TreeNode>();
  const paths = new Set<TreeNode>();
  for (const node of nodesOf(tree.root)) {
    const { logger } = node;
    if (logger === undefined || (filter !== undefined && !filter.matches(node.key)) || !passes(logger)) continue;
    kept.add(node);
    for (let up = isSelective ? node.parent : undefined; up !== undefined && !paths.has(up); up = up.parent)
      paths.add(up);
  }
  if (asked.isFlat) {
    for (const node of kept) {
      rows.push({
        id: node.key,
        depth: 1,
        isOpen: undefined,
        isPath: false,
        node,
        group: undefined,
        text: node.logger!.name,
      });
    }
  } else if (kept.size > 0) {
    const isOpenAtFirst = isSelective || tree.root.below <= MAX_OPEN_AT_FIRST;
    addBranch(rows, tree.root, (node) => {
      const isPath = isSelective && !kept.has(node);
      if (isPath && !paths.has(node)) return undefined;
      const hasBelow = isSelective ? paths.has(node) : node.children.length > 0;
      const isOpen = hasBelow ? (asked.open.get(node.key) ?? (isOpenAtFirst || node === tree.root)) : undefined;
      return { isPath, isOpen };
    });
  }
  return { rows, counts };
}

function addGroup(rows: Row[], group: LoggerGroup, tree: LoggerTree, { open, isFlat }: Asked): void {
  const id = `group ${group.name}`;
  const isOpen = isFlat || group.members.length === 0 ? undefined : (open.get(id) ?? false);
  rows.push({ id, depth: 1, isOpen, isPath: false, node: undefined, group, text: group.name });
  if (!isOpen) return;
  for (const member of group.members) {
    const node = tree.get(member);
    rows.push({
      id: `${id} ${member}`,
      depth: 2,
      isOpen: undefined,
      isPath: false,
      node,
      group: undefined,
      text: member,
    });
  }
}

function addBranch(
  rows: Row[],
  node: TreeNode,
  look: (node: TreeNode) => { readonly isPath: boolean; readonly isOpen: boolean | undefined } | undefined,
): void {
  const stack = [node];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const found = look(at);
    if (found === undefined) continue;
    rows.push({ id: at.key, depth: at.depth, ...found, node: at, group: undefined, text: undefined });
    if (found.isOpen) for (let i = at.children.length - 1; i >= 0; i--) stack.push(at.children[i]!);
  }
}

/** In the order of their names, ROOT first. */
function* nodesOf(root: TreeNode): Iterable<TreeNode> {
  const stack = [root];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    yield at;
    for (let i = at.children.length - 1; i >= 0; i--) stack.push(at.children[i]!);
  }
}
