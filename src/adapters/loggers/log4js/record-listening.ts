import { levelVerbosity } from "../../../loggers/level.ts";
import { placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { callContent } from "../../kit/loggers/call-content.ts";
import { handOver } from "../../kit/loggers/hand-over.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import { keptRecord } from "../../kit/loggers/kept-record.ts";
import { RecordInstrumentation, type RecordObserver } from "../../kit/loggers/record-instrumentation.ts";
import {
  type Log4js,
  type Log4jsCopy,
  type NativeClustering,
  type NativeLevel,
  type NativeRecord,
  recordLevel,
} from "./native.ts";

/** A logger, from within. */
interface NativeLogger {
  readonly category: string;
  isLevelEnabled(level: NativeLevel): boolean;
  log(level: unknown, ...data: readonly unknown[]): void;
  _log(level: NativeLevel, data: readonly unknown[]): void;
}

/** What hears the records of a copy of log4js, by category. */
export function recordListening(log4js: Log4js, { levels }: Log4jsCopy, clustering: NativeClustering): RecordListening {
  return listeningOf(clustering)(Object.getPrototypeOf(log4js.getLogger()) as object, levels);
}

const listeningOf = oncePer((clustering: NativeClustering) => {
  let listening: RecordListening | undefined;
  return (prototype: object, levels: Log4jsCopy["levels"]) =>
    (listening ??= new RecordListening(prototype, levels, clustering));
});

/** Hears records where log4js hands them to its appenders, and makes those that a level drops without handing them over. */
class RecordListening extends RecordInstrumentation<string> {
  readonly #prototype: object;
  readonly #levels: Log4jsCopy["levels"];
  readonly #clustering: NativeClustering;
  readonly #verbosities = new WeakMap<NativeLevel, number>();
  readonly #hiding = new Hiding(() => this.#log());
  /** Whether a call is being made for observers alone. */
  #isHiding = false;

  constructor(prototype: object, levels: Log4jsCopy["levels"], clustering: NativeClustering) {
    super();
    this.#prototype = prototype;
    this.#levels = levels;
    this.#clustering = clustering;
  }

  override observe(observer: RecordObserver<string>): () => void {
    const stop = super.observe(observer);
    return observer.hides ? undoing([stop, this.#hiding.observe(observer)]) : stop;
  }

  protected install(): () => void {
    return this.#send();
  }

  #send(): () => void {
    const listening = this;
    const { observers } = this;
    return placeMethod(this.#clustering, "send", (original) => {
      return function (this: unknown, ...values) {
        if (observers.size === 0) return original.apply(this, values);
        const hidden = listening.#isHiding;
        listening.#isHiding = false;
        listening.#tell(values[0] as NativeRecord, hidden);
        return hidden ? undefined : handOver(() => original.apply(this, values));
      };
    });
  }

  /** It does what log4js's own does, and calls no more functions: log4js finds the caller by its place in the call stack. */
  #log(): () => void {
    const listening = this;
    const levels = this.#levels;
    return placeMethod(this.#prototype, "log", (original) => {
      return function (this: unknown, ...values) {
        const logger = this as NativeLogger;
        const [given, ...data] = values;
        const level = levels.getLevel(given);
        if (level === undefined && data.length > 0) return original.apply(this, values);
        if (level === undefined) return logger.log(levels.getLevel("INFO"), given);
        if (logger.isLevelEnabled(level)) return logger._log(level, data);
        const border = { verbosity: listening.#verbosity(level), hidden: true };
        return listening.wants(logger.category, border) ? listening.#hide(logger, level, data) : undefined;
      };
    });
  }

  #hide(logger: NativeLogger, level: NativeLevel, data: readonly unknown[]): void {
    this.#isHiding = true;
    try {
      logger._log(level, data);
    } catch {
      // A function of the application that parses call stacks failed; without an observer it would not have been called.
    } finally {
      this.#isHiding = false;
    }
  }

  #tell({ categoryName, level, data, context }: NativeRecord, hidden: boolean): void {
    const verbosity = this.#verbosity(level);
    if (verbosity === 0) return;
    const head = { verbosity, nativeLevel: level.levelStr, hidden };
    this.tell(categoryName, head, () => keptRecord(head, callContent(data, context)));
  }

  #verbosity(level: NativeLevel): number {
    let verbosity = this.#verbosities.get(level);
    if (verbosity === undefined) {
      verbosity = levelVerbosity(recordLevel(this.#levels, level) ?? "OFF");
      this.#verbosities.set(level, verbosity);
    }
    return verbosity;
  }
}

/** Makes what a level drops, only while an observer wants that: every disabled call costs more meanwhile. */
class Hiding extends Instrumentation<RecordObserver<string>> {
  readonly #begin: () => () => void;

  constructor(begin: () => () => void) {
    super();
    this.#begin = begin;
  }

  protected install(): () => void {
    return this.#begin();
  }
}
