import { type Making, placeMethod } from "../../kit/interception/replaced-method.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { type GateState, gateOf } from "./level-gate.ts";
import type { LevelSet } from "./level-set.ts";
import { LEVEL, loggerPrototype, type NativeLogger } from "./native.ts";
import type { HeardGroup, RecordTails } from "./record-tails.ts";
import { decide, verdictOn } from "./transports.ts";

/** A record, or what else may be written to a logger. */
type Written = { readonly level?: string; [LEVEL]?: string | undefined } | null | undefined;

/** The record that is being written, if it may be heard, and the logger that writes it. */
let writing: { readonly record: unknown; readonly writer: NativeLogger } | undefined;

/** The loggers that wrote the records which wait for their format, behind a slow transport. */
const waiting = new WeakMap<object, NativeLogger>();

/** Whether a record that is not written is being formatted: what the format logs is not written either. */
let isFormatting = false;

/** What the overriding methods ask about the logger and its children. */
export interface OverriddenGroup {
  readonly logger: NativeLogger;
  readonly levels: LevelSet;
  /** The call that has not reached `write` yet. */
  call: { readonly logger: NativeLogger; readonly label: string | undefined } | undefined;
  /** Whether a call gets past the methods. It is counted. */
  lets(logger: NativeLogger, label: string | undefined): boolean;
  /** The most verbose value that any transport writes at a level that an operator set. */
  reach(set: GateState): number;
  readonly tails: Pick<RecordTails<HeardGroup>, "isEmpty" | "wants" | "hides" | "take" | "takeHidden">;
}

/**
 * Overrides the methods of a logger, which its children inherit, while an operator's level applies to any of them or their calls
 * are counted. The level methods know which logger is called; `write`, where all records arrive, decides. A call that an
 * operator's level disables returns at once.
 */
export class MethodOverrides {
  readonly #group: OverriddenGroup;
  readonly #covered = new Set<string>();
  readonly #undo: (() => void)[] = [];

  constructor(group: OverriddenGroup) {
    this.#group = group;
    this.#place("isLevelEnabled", (method) => {
      return function (this: unknown, ...values) {
        const set = gateOf(this as NativeLogger)?.deciding;
        const label = values[0] as string;
        const isEnabled =
          set === undefined ? method.apply(this, values) : group.levels.values[label]! <= group.reach(set);
        return isEnabled || group.tails.hides(this as NativeLogger, label);
      };
    });
    this.#place("log", (method) => logging(group, method, labelOfLogCall));
    this.#place("profile", (method) => logging(group, method, () => undefined));
    this.#place("startTimer", (method) => {
      return function (this: unknown, ...values) {
        const timer = method.apply(this, values) as { done: Method };
        const done = logging(group, timer.done.bind(timer), () => undefined);
        timer.done = (...record) => done.apply(this, record);
        return timer;
      };
    });
    this.#place("write", (method) => {
      return function (this: unknown, written, encoding, done) {
        if (isFormatting) return true;
        const { call } = group;
        // From here on a format or a transport may log by itself.
        group.call = undefined;
        const logger = call?.logger ?? group.logger;
        const set = gateOf(logger)?.deciding;
        const label = levelOf(written as Written);
        const isDropped = set !== undefined && group.levels.values[label!]! > set.threshold;
        decide(written, set && !isDropped);
        if (isDropped && group.tails.hides(logger, label)) {
          group.tails.takeHidden(logger, label!, () => formatted(group.logger, written as Written));
          // Such a call has always ended before it got here.
          if (call !== undefined) return true;
        }
        if (isDropped || !group.tails.wants(logger, label)) return method.call(this, written, encoding, done);
        const outer = writing;
        const own = { record: written, writer: logger };
        writing = own;
        try {
          return method.call(this, written, encoding, done);
        } finally {
          if (writing === own) waiting.set(written as object, logger);
          writing = outer;
        }
      };
    });
    let isLetThrough = false;
    let writer: NativeLogger | undefined;
    this.#place("_transform", (method) => {
      return function (this: unknown, record, encoding, done) {
        const verdict = verdictOn(record);
        if (verdict === false) return (done as () => void)();
        isLetThrough = verdict === true;
        if (writing !== undefined && writing.record === record) {
          ({ writer } = writing);
          writing = undefined;
        } else writer = waiting.get(record as object);
        return method.call(this, record, encoding, done);
      };
    });
    // A format may return another record than it was given.
    this.#place("push", (method) => {
      return function (this: unknown, record, encoding) {
        if (isLetThrough) decide(record, true);
        const heard = writer;
        writer = undefined;
        if (heard !== undefined) group.tails.take(heard, record);
        const push = () => method.call(this, record, encoding);
        return group.tails.isEmpty ? push() : handOver(push);
      };
    });
    this.cover();
  }

  /** Overrides the level methods that the logger has got since. winston adds them after it has made a logger. */
  cover(): void {
    const group = this.#group;
    const { logger } = group;
    const plain = loggerPrototype(logger)!;
    for (const label of Object.keys(group.levels.values)) {
      // A level may have the name of a member of every stream.
      if (this.#covered.has(label) || label in plain || typeof logger[label] !== "function") continue;
      this.#covered.add(label);
      this.#place(label, (method) => logging(group, method, () => label));
    }
  }

  /** Puts the original methods back, except those that the application has replaced since. */
  remove(): void {
    for (const undo of this.#undo.reverse()) undo();
  }

  #place(name: string, make: Making): void {
    this.#undo.push(placeMethod(this.#group.logger, name, make));
  }
}

type Method = ReturnType<Making>;

/** A method that writes a record with the level that `labelOf` finds in its first argument. */
function logging(group: OverriddenGroup, method: Method, labelOf: (first: unknown) => string | undefined): Method {
  return function (this: unknown, ...values) {
    const logger = (this ?? group.logger) as NativeLogger;
    const label = labelOf(values[0]);
    const outer = group.call;
    // Most level methods end up in `log`.
    if (outer !== undefined && outer.logger === logger && outer.label === label) return method.apply(this, values);
    if (!group.lets(logger, label)) return logger;
    group.call = { logger, label };
    try {
      return method.apply(this, values);
    } finally {
      group.call = outer;
    }
  };
}

function levelOf(written: Written): string | undefined {
  return written?.[LEVEL] ?? written?.level;
}

/** What the format makes of a record that is not written; undefined if it throws. */
function formatted({ format, silent }: NativeLogger, record: Written): unknown {
  if (silent || !record) return undefined;
  record[LEVEL] ??= record.level;
  isFormatting = true;
  try {
    return format.transform(record, format.options);
  } catch {
    return undefined;
  } finally {
    isFormatting = false;
  }
}

/** The level of a call of `log`, which takes a level or a whole record first. */
function labelOfLogCall(first: unknown): string | undefined {
  return typeof first === "string" ? first : (first as { readonly level: string } | undefined)?.level;
}
