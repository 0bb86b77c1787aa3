import { computed, signal } from "@preact/signals";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import type { LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import type { LevelOrigin } from "../components/level-control.tsx";
import { loggers, onLoggersChange } from "../state/loggers.ts";
import { amend, go, route } from "../state/route.ts";
import { nameFilter } from "./filter.ts";
import { listing, type Only, type Row } from "./rows.ts";
import { effectiveLevel, inheritsFrom, LoggerTree, returnsTo, type TreeNode } from "./tree.ts";

/** The tree; changed in place with each change. */
let tree = new LoggerTree(loggers.peek().loggers.values());
/** Moves with each name more or less, and with each configured level. */
const shape = signal(0);
let timer: ReturnType<typeof setTimeout> | undefined;

onLoggersChange(({ isSnapshot, loggers: each, before, groups, removed }) => {
  if (isSnapshot) tree = new LoggerTree(each.values());
  let isReshaped = isSnapshot;
  let isRelevelled = groups.size > 0;
  if (!isSnapshot) {
    for (const logger of each.values()) {
      if (tree.put(logger)) isReshaped = true;
      const was = before.get(logger.name);
      isRelevelled ||= was?.configuredLevel !== logger.configuredLevel || was.override !== logger.override;
    }
    for (const name of removed) isReshaped = tree.remove(name) || isReshaped;
  }
  if (isReshaped) shape.value++;
  // The rows in sight show the level at once; which rows there are, and how many, can wait for a frame.
  else if (isRelevelled && timer === undefined) {
    timer = setTimeout(() => {
      timer = undefined;
      shape.value++;
    }, 30);
  }
});

export function theTree(): LoggerTree {
  return tree;
}

/** The name of the selected logger or group; empty: none. */
export const selected = computed(() => (route.value.page === "loggers" ? route.value.subject : ""));
export const filterText = computed(() => route.value.params.get("filter") ?? "");
export const only = computed<Only>(() => {
  const asked = route.value.params.get("only");
  return asked === "configured" || asked === "changed" ? asked : "all";
});
export const isFlat = computed(() => route.value.params.get("view") === "list");
/** The rows that the operator has opened and closed. */
export const opened = signal<ReadonlyMap<string, boolean>>(new Map());

const filter = computed(() => nameFilter(filterText.value));

/** Marks what the filter names in a row. */
export function markOf(key: string): readonly [number, number] | undefined {
  return filter.value?.markOf(key);
}

export const shownRows = computed(() => {
  shape.value;
  const { groups } = loggers.peek();
  return listing(tree, groups.values(), {
    filter: filter.value,
    only: only.value,
    isFlat: isFlat.value,
    open: opened.value,
  });
});

/** Changes the address: of what is given, and keeps the rest. */
export function address(
  change: Readonly<Record<string, string | undefined>>,
  { subject = selected.peek(), isStep = false } = {},
): void {
  const params = { ...Object.fromEntries(route.peek().params), ...change };
  if (isStep) go("loggers", subject, params);
  else amend(subject, params);
}

/** Opens the details of a logger or group, or closes them. */
export function select(subject: string, change: Readonly<Record<string, string | undefined>> = {}): void {
  address({ tail: undefined, history: undefined, details: undefined, ...change }, { subject, isStep: true });
}

export function toggle(row: Row, isOpen = !row.isOpen): void {
  if (row.isOpen === undefined || row.isOpen === isOpen) return;
  opened.value = new Map(opened.peek()).set(row.id, isOpen);
}

/** Opens what is above a name, so that its row is shown. */
export function reveal(name: string): void {
  const open = new Map(opened.peek());
  for (let at = tree.get(name)?.parent; at !== undefined; at = at.parent) open.set(at.key, true);
  opened.value = open;
}

/** The name by which the server knows a row; undefined for a member that stands for many. */
export function nameOf({ node, group, text }: Row): string | undefined {
  if (group !== undefined) return group.name;
  if (node !== undefined) return node.logger?.name ?? node.key;
  return text?.endsWith(".*") ? undefined : text;
}

/** A level as the control shows it. */
export interface ShownLevel {
  readonly level: Level;
  readonly origin: LevelOrigin;
  readonly upTo?: Level | undefined;
  readonly base?: Level | undefined;
}

export function levelOf(node: TreeNode): ShownLevel {
  const level = effectiveLevel(node);
  if (node.logger?.override !== undefined) return { level, origin: "changed", base: returnsTo(node) };
  if ((node.logger?.configuredLevel ?? Level.UNSPECIFIED) !== Level.UNSPECIFIED) return { level, origin: "configured" };
  return { level, origin: inheritsFrom(node)?.logger?.override === undefined ? "inherited" : "via" };
}

export function levelOfGroup({ members, mixed, configuredLevel, override }: LoggerGroup): ShownLevel {
  const levels: Level[] = [];
  for (const member of members) {
    const isBranch = member.endsWith(".*");
    const node = tree.get(isBranch ? member.slice(0, -2) : member);
    if (node === undefined) continue;
    if (!isBranch) levels.push(effectiveLevel(node));
    else levels.push(...branchOf(node).map(effectiveLevel));
  }
  const [least, most] = [Math.min(...levels) as Level, Math.max(...levels) as Level];
  if (mixed && levels.length > 0) return { level: least, upTo: most, origin: "mixed" };
  const level = levels[0] ?? configuredLevel;
  if (override !== undefined) return { level, origin: "changed" };
  return { level, origin: configuredLevel === Level.UNSPECIFIED ? "inherited" : "configured" };
}

/** Bounded: the levels of a group are read with each row that shows it. */
const MAX_BRANCH = 1_000;

function branchOf({ children }: TreeNode): TreeNode[] {
  const found: TreeNode[] = [];
  const stack = [...children];
  for (let at = stack.pop(); at !== undefined && found.length < MAX_BRANCH; at = stack.pop()) {
    if (at.logger !== undefined) found.push(at);
    stack.push(...at.children);
  }
  return found;
}

/** The library of most loggers: rows name theirs only if it is another one. */
export const mainKind = computed(() => {
  shape.value;
  const counts = new Map<string, number>();
  for (const { kind } of loggers.peek().loggers.values())
    if (kind !== "") counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ["", 0] as [string, number])[0];
});
