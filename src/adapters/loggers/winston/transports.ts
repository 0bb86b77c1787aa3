import { gateOf } from "./level-gate.ts";
import { LevelCounts, type LevelSet, levelSet } from "./level-set.ts";
import { type NativeLevels, type NativeLogger, type NativeTransport, owner, transportName } from "./native.ts";

/** A logger with its children, which write to the same transports. */
export interface Writers {
  readonly levels: LevelSet;
  /** The most verbose value among the loggers. */
  readonly most: number;
  /** Whether the logger is one of them. */
  has(logger: NativeLogger): boolean;
  /** Reads the transports again. */
  transportsChanged(): void;
}

/** A transport that lets through what the loggers need that write to it. */
interface OpenedTransport {
  /** What each group that writes to it last needed. */
  readonly needs: Map<Writers, number>;
  readonly counts: LevelCounts;
  /** The level that was set on the transport, and its level before. */
  pushed: { readonly label: string; readonly before: string | undefined } | undefined;
}

const known = new WeakMap<NativeTransport, OpenedTransport>();

/** Notes that a group writes to the transport. */
export function join(transport: NativeTransport, group: Writers): void {
  let opened = known.get(transport);
  if (opened === undefined)
    known.set(transport, (opened = { needs: new Map(), counts: new LevelCounts(), pushed: undefined }));
  if (opened.needs.has(group)) return;
  opened.needs.set(group, group.most);
  opened.counts.add(group.most);
  // The transport took its level from this logger before, when no adapter managed it.
  const { parent } = transport;
  if (opened.needs.size === 1 || !parent || !group.has(parent)) return;
  for (const other of opened.needs.keys()) if (other !== group) other.transportsChanged();
}

/** Ends {@link join}. The last group to leave takes back the level that was set on the transport. */
export function leave(transport: NativeTransport, group: Writers): void {
  const opened = known.get(transport);
  const need = opened?.needs.get(group);
  if (opened === undefined || need === undefined) return;
  opened.needs.delete(group);
  opened.counts.remove(need);
  if (opened.needs.size > 0) {
    push(transport, opened);
    return;
  }
  known.delete(transport);
  if (opened.pushed !== undefined && transport.level === opened.pushed.label) transport.level = opened.pushed.before;
}

/** Makes the transport let through what the group now needs, and what the other groups that write to it need. */
export function open(transport: NativeTransport, group: Writers): void {
  const opened = known.get(transport);
  const before = opened?.needs.get(group);
  if (opened === undefined || before === undefined) return;
  const { most } = group;
  if (most !== before) {
    opened.needs.set(group, most);
    opened.counts.remove(before);
    opened.counts.add(most);
  }
  push(transport, opened);
}

/** Sets the transport's level, unless the application gave it one or it is a plain stream, which has none. */
function push(transport: NativeTransport, opened: OpenedTransport): void {
  if (transport.levels === undefined || ownLevel(transport) !== undefined) return;
  const label = levelSet(transport.levels).labelOf(opened.counts.most);
  if (label === transport.level) return;
  opened.pushed = { label, before: opened.pushed === undefined ? transport.level : opened.pushed.before };
  transport.level = label;
}

/**
 * The level that the transport keeps whatever its loggers have: one that the application set, or that of an unmanaged logger to
 * which the transport was added first. Undefined if the transport takes what the loggers let through.
 */
export function ownLevel(transport: NativeTransport): string | undefined {
  const opened = known.get(transport);
  const { level, parent } = transport;
  if (level) {
    if (level === opened?.pushed?.label) return undefined;
    if (opened !== undefined) opened.pushed = undefined;
    return level;
  }
  return parent && gateOf(owner(parent)) === undefined ? parent.level : undefined;
}

/** Warnings for the operator about what a transport does whatever level its loggers have. */
export function transportLimits(transport: NativeTransport, group: Writers): readonly string[] {
  const name = JSON.stringify(transportName(transport));
  const limits: string[] = [];
  const own = ownLevel(transport);
  if (own !== undefined && group.levels.value(own) < group.levels.most) {
    const whose = transport.level ? "its own level" : "the level of a logger that is not managed";
    limits.push(`the transport ${name} keeps ${whose} (${own}); less severe records are not written to it`);
  }
  if (isSharedOutside(transport)) {
    limits.push(
      `the transport ${name} is shared with a logger that is not managed, for which it lets through what it does for this one`,
    );
  }
  if (transport.levels !== undefined && !sameLevels(transport.levels, group.levels.values)) {
    limits.push(`the transport ${name} filters by the levels of another logger, to which it was added first`);
  }
  return limits;
}

/** winston does not list the loggers that write to a transport, but each of them listens to it. */
function isSharedOutside(transport: NativeTransport): boolean {
  const writers = transport.listeners("unpipe").filter(({ name }) => name === "onunpipe").length;
  return writers > (known.get(transport)?.needs.size ?? 0);
}

function sameLevels(one: NativeLevels, other: NativeLevels): boolean {
  const labels = Object.keys(one);
  return labels.length === Object.keys(other).length && labels.every((label) => one[label] === other[label]);
}
