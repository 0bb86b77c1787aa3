import { type Method, placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import type { Log4js, NativeLevel } from "./native.ts";

/** Called for each call of a logger, with its category, the call's level, and whether the logger lets it through. */
export type CallListener = (category: string, level: NativeLevel, enabled: boolean) => void;

interface NativeLogger {
  readonly category: string;
}

/** Calls `listener` for every call of a copy of log4js. Returns a function that stops it. */
export function listenToCalls(log4js: Log4js, listener: CallListener): () => void {
  return listeningOf(Object.getPrototypeOf(log4js.getLogger()) as object).observe(listener);
}

const listeningOf = oncePer((prototype: object) => new CallListening(prototype));

/**
 * Sees every call of the loggers of one prototype. Each call asks its logger whether its level is enabled, and is done asking
 * before it writes; so replacing that question adds no line to a call stack that log4js may record. The application asks the
 * same question by `isDebugEnabled()` and the like, which do not count.
 */
class CallListening extends Instrumentation<CallListener> {
  readonly #prototype: object;
  /** Whether the application is asking. */
  #isQuestion = false;

  constructor(prototype: object) {
    super();
    this.#prototype = prototype;
  }

  protected install(): () => void {
    const listening = this;
    const { observers } = this;
    const questions = Object.getOwnPropertyNames(this.#prototype).filter(
      (name) => name !== "isLevelEnabled" && /^is.+Enabled$/.test(name),
    );
    const isLevelEnabled = (original: Method): Method =>
      function (...values) {
        const enabled = original.apply(this, values);
        const [level] = values;
        if (!listening.#isQuestion && typeof level === "object" && level !== null) {
          const { category } = this as NativeLogger;
          for (const listener of observers) listener(category, level as NativeLevel, enabled === true);
        }
        return enabled;
      };
    return undoing([
      ...questions.map((name) => placeMethod(this.#prototype, name, (original) => this.#question(original))),
      placeMethod(this.#prototype, "isLevelEnabled", isLevelEnabled),
    ]);
  }

  #question(original: Method): Method {
    const listening = this;
    return function (...values) {
      listening.#isQuestion = true;
      try {
        return original.apply(this, values);
      } finally {
        listening.#isQuestion = false;
      }
    };
  }
}
