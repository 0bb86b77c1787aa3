import type { Family } from "./family.ts";
import { gateOf } from "./gate.ts";
import { type NativeLevels, type NativeTransport, owner, transportName } from "./native.ts";

/** A transport that is opened as far as the loggers need that write to it. */
interface Opened {
  readonly families: Set<Family>;
  /** The level that was put on the transport, and what stood there. */
  pushed: { readonly label: string; readonly before: string | undefined } | undefined;
}

const known = new WeakMap<NativeTransport, Opened>();

/** A family writes to the transport, from now on. */
export function join(transport: NativeTransport, family: Family): void {
  let opened = known.get(transport);
  if (opened === undefined) known.set(transport, (opened = { families: new Set(), pushed: undefined }));
  if (opened.families.has(family)) return;
  opened.families.add(family);
  open(transport);
  // It may have hung on a logger that was nobody's and is managed now.
  for (const other of opened.families) if (other !== family) other.limitsChanged();
}

/** Ends {@link join}. The last one leaves the transport without the level that was put there. */
export function leave(transport: NativeTransport, family: Family): void {
  const opened = known.get(transport);
  if (opened === undefined || !opened.families.delete(family)) return;
  if (opened.families.size > 0) {
    open(transport);
    return;
  }
  known.delete(transport);
  if (opened.pushed !== undefined && transport.level === opened.pushed.label) transport.level = opened.pushed.before;
}

/** Lets the transport through what the most verbose of its loggers needs, unless the application gave it a level. */
export function open(transport: NativeTransport): void {
  const opened = known.get(transport);
  // A plain stream has no level: it writes whatever comes.
  if (opened === undefined || transport.log === undefined || ownLevel(transport) !== undefined) return;
  let label: string | undefined;
  let most = Number.NaN;
  for (const family of opened.families) {
    const value = family.levels.value(family.label);
    if (value <= most) continue;
    most = value;
    label = family.label;
  }
  if (label === undefined || label === transport.level) return;
  opened.pushed = { label, before: opened.pushed === undefined ? transport.level : opened.pushed.before };
  transport.level = label;
}

/**
 * The level that the transport keeps whatever its loggers have: the application's own, or that of a logger outside, to which
 * the transport was added first. Undefined where it takes what the loggers let through.
 */
export function ownLevel(transport: NativeTransport): string | undefined {
  const opened = known.get(transport);
  const { level, parent } = transport;
  if (level) {
    if (level === opened?.pushed?.label) return undefined;
    if (opened !== undefined) opened.pushed = undefined;
    return level;
  }
  return parent && isOutside(parent) ? parent.level : undefined;
}

/** What a transport does whatever level its loggers have: sentences for the operator. */
export function transportLimits(transport: NativeTransport, family: Family): readonly string[] {
  const name = JSON.stringify(transportName(transport));
  const limits: string[] = [];
  const own = ownLevel(transport);
  if (own !== undefined && family.levels.value(own) < family.levels.most) {
    const whose = transport.level ? "its own level" : "the level of a logger outside";
    limits.push(`the transport ${name} keeps ${whose} (${own}); less severe records are not written to it`);
  }
  if (isSharedOutside(transport)) {
    limits.push(
      `the transport ${name} is shared with a logger outside, for which it lets through what it does for this one`,
    );
  }
  if (transport.levels !== undefined && !sameLevels(transport.levels, family.levels.values)) {
    limits.push(`the transport ${name} filters by the levels of another logger, to which it was added first`);
  }
  return limits;
}

function isOutside(parent: NonNullable<NativeTransport["parent"]>): boolean {
  return gateOf(owner(parent)) === undefined;
}

/** winston does not tell who writes to a transport; but each one that does listens to it. */
function isSharedOutside(transport: NativeTransport): boolean {
  const writers = transport.listeners("unpipe").filter(({ name }) => name === "onunpipe").length;
  return writers > (known.get(transport)?.families.size ?? 0);
}

function sameLevels(one: NativeLevels, other: NativeLevels): boolean {
  const labels = Object.keys(one);
  return labels.length === Object.keys(other).length && labels.every((label) => one[label] === other[label]);
}
