import { type NativeLogger, owner } from "./native.ts";

type Write = (this: unknown, record: object) => unknown;

/** The loggers of one copy of winston that exist, as far as the application made them. */
export interface ExistingLoggers {
  /** Those with transports. */
  readonly loggers: readonly NativeLogger[];
  /** Parents come before their children. */
  readonly children: readonly { readonly child: NativeLogger; readonly metadata: Readonly<Record<string, unknown>> }[];
}

/** Tells the loggers among all objects that inherit from `Logger.prototype` of a copy of winston. */
export function existingLoggers(prototype: NativeLogger, objects: readonly object[]): ExistingLoggers {
  const all = objects as readonly NativeLogger[];
  const loggers = all.filter((each) => Object.hasOwn(each, "_readableState"));
  const [first] = loggers;
  if (first === undefined) return { loggers, children: [] };
  const source = sourceOf((prototype.child as (metadata: object) => NativeLogger).call(first, {}));
  const isMade = (each: NativeLogger) => sourceOf(each) === source;
  const children = all.filter(isMade).sort((one, other) => depth(one) - depth(other));
  const metadata = readMetadata(prototype, children, isMade);
  return { loggers, children: children.map((child) => ({ child, metadata: metadata.get(child)! })) };
}

/** The source of a logger's own `write`, which winston gives each child. */
function sourceOf(logger: NativeLogger): string | undefined {
  const write: unknown = Object.getOwnPropertyDescriptor(logger, "write")?.value;
  return typeof write === "function" ? Function.prototype.toString.call(write) : undefined;
}

function depth(logger: NativeLogger): number {
  let depth = 0;
  for (let at = Object.getPrototypeOf(logger); at !== null; at = Object.getPrototypeOf(at)) depth++;
  return depth;
}

/**
 * Only the \`write\` of a child knows its metadata: it adds them to a record and calls the \`write\` of its parent, in the end that of the
 * prototype, which takes the record here instead of writing it.
 */
function readMetadata(
  prototype: NativeLogger,
  children: readonly NativeLogger[],
  isMade: (logger: NativeLogger) => boolean,
): Map<NativeLogger, Record<string, unknown>> {
  const all = new Map<NativeLogger, Record<string, unknown>>();
  let taken: Record<string, unknown> = {};
  const take: Write = (record) => {
    taken = record as Record<string, unknown>;
  };
  const before = Object.getOwnPropertyDescriptor(prototype, "write");
  Object.defineProperty(prototype, "write", { value: take, configurable: true, writable: true });
  try {
    for (const child of children) {
      taken = {};
      if (owner(child).write === take && isMadeAllTheWay(child, isMade)) (child.write as Write)({});
      all.set(child, taken);
    }
  } finally {
    if (before === undefined) Reflect.deleteProperty(prototype, "write");
    else Object.defineProperty(prototype, "write", before);
  }
  return new Map([...all].map(([child, merged]) => [child, without(all.get(parentOf(child)), merged)]));
}

/** Whether no code of the application runs when a child writes. */
function isMadeAllTheWay(child: NativeLogger, isMade: (logger: NativeLogger) => boolean): boolean {
  const root = owner(child);
  for (let at = child; at !== root; at = parentOf(at)) if (Object.hasOwn(at, "write") && !isMade(at)) return false;
  return true;
}

function parentOf(logger: NativeLogger): NativeLogger {
  return Object.getPrototypeOf(logger) as NativeLogger;
}

/** The metadata that a child has beyond those of its parent. */
function without(inherited: Record<string, unknown> = {}, merged: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(merged).filter(([key, value]) => inherited[key] !== value));
}
