import { inspect } from "node:util";
import { levelVerbosity } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { keptRecord, splitError } from "../../kit/loggers/kept-record.ts";
import type { RecordSinks } from "../../kit/loggers/record-sinks.ts";
import { isError } from "../../kit/loggers/snapshot.ts";
import { decidingLogger, hasScopedConfig, isLetThrough } from "./call-listening.ts";
import { levelFromNative, type NativeLevel, type NativeLogger } from "./native.ts";

/** A record, as LogTape passes it to filters and sinks. */
interface NativeRecord {
  readonly level: NativeLevel;
  /** Texts with the values between them. Reading it may call a function of the application. */
  readonly message: readonly unknown[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/**
 * Gives the records of a tree to sinks until the returned function is called. If `hides`, also those that are made for a sink alone.
 *
 * A written record is heard when LogTape has asked the filters, and before it asks the sinks, which may write further ones. A dropped
 * call whose properties are a function is not made: LogTape asks the same question for it as the application does before costly work.
 */
export function tailRecords<Handle>(
  root: NativeLogger,
  sinks: RecordSinks<Handle>,
  handleOf: (logger: NativeLogger) => Handle | undefined,
  hides: boolean,
): () => void {
  const prototype = Object.getPrototypeOf(root) as object;
  let live = true;
  /** Gives the record that `emit` is called with, once the filters have let it through. */
  let pending: (() => void) | undefined;

  const givingOf = (logger: NativeLogger, record: NativeRecord): (() => void) | undefined => {
    const verbosity = levelVerbosity(levelFromNative(record.level) ?? "OFF");
    if (verbosity === 0) return undefined;
    const handle = handleOf(decidingLogger(root, logger));
    const sink = sinks.find(handle, verbosity);
    const hiding = hides ? sinks.findHidden(handle, verbosity) : undefined;
    if (sink === undefined && hiding === undefined) return undefined;
    const hidden = !isLetThrough(root, logger, record.level);
    const taking = hidden ? hiding : sink;
    if (taking === undefined) return undefined;
    const give = () => sinks.give(taking, () => kept(record, verbosity, hidden));
    if (!hidden) return give;
    give();
    return undefined;
  };

  const emit = placeMethod(prototype, "emit", (original) => {
    return function (this: unknown, ...values) {
      if (!live) return original.apply(this, values);
      const giving = givingOf(this as NativeLogger, values[0] as NativeRecord);
      const outer = pending;
      pending = giving;
      try {
        return handOver(() => original.apply(this, values));
      } finally {
        // The configuration of a single call has filters of its own, which cannot be seen.
        if (pending === giving && giving !== undefined && hasScopedConfig(root)) giving();
        pending = outer;
      }
    };
  });
  const filter = placeMethod(prototype, "filter", (original) => {
    return function (this: unknown, ...values) {
      const giving = pending;
      // A filter may log, and a logger may ask its parent.
      pending = undefined;
      const passes = original.apply(this, values);
      if (passes === true) giving?.();
      return passes;
    };
  });
  const undo = [() => void (live = false), emit, filter];
  if (!hides) return undoing(undo);

  const isCertainlyDropped = placeMethod(prototype, "isCertainlyDropped", (original) => {
    return function (this: unknown, level) {
      const dropped = original.call(this, level);
      if (dropped !== true || !live) return dropped;
      const verbosity = levelVerbosity(levelFromNative(level as NativeLevel) ?? "OFF");
      const handle = handleOf(decidingLogger(root, this as NativeLogger));
      return verbosity === 0 || sinks.findHidden(handle, verbosity) === undefined;
    };
  });
  return undoing([...undo, isCertainlyDropped]);
}

function kept({ level, message, properties }: NativeRecord, verbosity: number, hidden: boolean) {
  const { fields, error } = splitError(properties);
  const text = message.map((part) => textOf(part, properties)).join("");
  return keptRecord({ verbosity, nativeLevel: String(level), hidden }, { message: text, fields, error });
}

function textOf(part: unknown, properties: object): string {
  if (typeof part === "string") return part;
  // `{*}`: all properties, which are fields.
  if (part === properties) return "";
  return isError(part) ? String(part) : inspect(part);
}
