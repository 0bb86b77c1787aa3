import { placeMethod } from "../../kit/interception/replaced-method.ts";
import { announce } from "../../kit/loggers/hand-over.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import type { DebugCopy, DebugLogger } from "./native.ts";

/** Called for each record, with its namespace and what is about to be formatted. */
export type RecordListener = (namespace: string, args: readonly unknown[]) => void;

/** What hears the records of a copy of debug. */
export const recordListening = oncePer((copy: DebugCopy) => new RecordListening(copy));

/** Hears the records of a copy where it prepares them: where they are written, a logger may have a function of its own. */
class RecordListening extends Instrumentation<RecordListener> {
  readonly #copy: DebugCopy;

  constructor(copy: DebugCopy) {
    super();
    this.#copy = copy;
  }

  protected install(): () => void {
    const { observers } = this;
    return placeMethod(this.#copy, "formatArgs", (original) => {
      return function (this: unknown, ...values) {
        const args = values[0] as unknown[];
        const { namespace } = this as DebugLogger;
        for (const listener of observers) listener(namespace, args);
        const result = original.apply(this, values);
        if (observers.size > 0) announce(args[0]);
        return result;
      };
    });
  }
}
