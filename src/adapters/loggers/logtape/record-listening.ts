import { inspect } from "node:util";
import { levelVerbosity } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { oncePer } from "../../kit/loggers/instrumentation.ts";
import { keptRecord, splitError } from "../../kit/loggers/kept-record.ts";
import { RecordInstrumentation } from "../../kit/loggers/record-instrumentation.ts";
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

/** What hears the records of a tree, by the logger that decides on them. */
export const recordListening = oncePer((root: NativeLogger) => new RecordListening(root));

/**
 * Hears a written record when LogTape has asked the filters, and before it asks the sinks, which may write further ones. One that a
 * level drops is made, and LogTape itself keeps it from the sinks. A dropped call whose properties are a function is not made: LogTape
 * asks the same question for it as the application does before costly work.
 */
class RecordListening extends RecordInstrumentation<NativeLogger> {
  readonly #root: NativeLogger;
  /** Tells of the record that `emit` is called with, once the filters have let it through. */
  #pending: (() => void) | undefined;

  constructor(root: NativeLogger) {
    super();
    this.#root = root;
  }

  protected install(): () => void {
    const prototype = Object.getPrototypeOf(this.#root) as object;
    return undoing([this.#emit(prototype), this.#filter(prototype), this.#isCertainlyDropped(prototype)]);
  }

  #emit(prototype: object): () => void {
    const listening = this;
    const { observers } = this;
    return placeMethod(prototype, "emit", (original) => {
      return function (this: unknown, ...values) {
        if (observers.size === 0) return original.apply(this, values);
        const tell = listening.#telling(this as NativeLogger, values[0] as NativeRecord);
        const outer = listening.#pending;
        listening.#pending = tell;
        try {
          return handOver(() => original.apply(this, values));
        } finally {
          // The configuration of a single call has filters of its own, which cannot be seen.
          if (listening.#pending === tell && hasScopedConfig(listening.#root)) tell?.();
          listening.#pending = outer;
        }
      };
    });
  }

  #filter(prototype: object): () => void {
    const listening = this;
    return placeMethod(prototype, "filter", (original) => {
      return function (this: unknown, ...values) {
        const tell = listening.#pending;
        // A filter may log, and a logger may ask its parent.
        listening.#pending = undefined;
        const passes = original.apply(this, values);
        if (passes === true) tell?.();
        return passes;
      };
    });
  }

  #isCertainlyDropped(prototype: object): () => void {
    const listening = this;
    return placeMethod(prototype, "isCertainlyDropped", (original) => {
      return function (this: unknown, level) {
        const dropped = original.call(this, level);
        const verbosity = verbosityOf(level as NativeLevel);
        if (dropped !== true || verbosity === 0 || !listening.hides) return dropped;
        return !listening.wants(decidingLogger(listening.#root, this as NativeLogger), { verbosity, hidden: true });
      };
    });
  }

  /** What tells of a record once it is written. Tells of one that a level drops at once. */
  #telling(logger: NativeLogger, record: NativeRecord): (() => void) | undefined {
    const verbosity = verbosityOf(record.level);
    if (verbosity === 0) return undefined;
    const decides = decidingLogger(this.#root, logger);
    const isWanted = [false, true].some((hidden) => this.wants(decides, { verbosity, hidden }));
    if (!isWanted) return undefined;
    const hidden = !isLetThrough(this.#root, logger, record.level);
    const head = { verbosity, nativeLevel: String(record.level), hidden };
    const tell = () => this.tell(decides, head, () => keptRecord(head, contentOf(record)));
    if (!hidden) return tell;
    tell();
    return undefined;
  }
}

/** A record that the application made itself may have another level, which is 0. */
function verbosityOf(level: NativeLevel): number {
  return levelVerbosity(levelFromNative(level) ?? "OFF");
}

/** Objects in the message become fields, where secrets are found by their names, unless they are there already. */
function contentOf({ message, properties }: NativeRecord) {
  const text = message.map((part) => textOf(part, properties)).join("");
  const known = Object.values(properties);
  const values = message.filter((part) => hasFields(part) && part !== properties && !known.includes(part));
  return { message: text, ...splitError(values.length === 0 ? properties : { ...properties, values }) };
}

function textOf(part: unknown, properties: object): string {
  if (typeof part === "string") return part;
  // `{*}`: all properties, which are fields.
  if (part === properties) return "";
  if (isError(part)) return String(part);
  return hasFields(part) ? inspect(part, { depth: -1 }) : inspect(part);
}

/** A date, which JSON shows as text, has none. */
function hasFields(part: unknown): boolean {
  return typeof part === "object" && part !== null && !isError(part) && !(part instanceof Date);
}
