import { Instrumentation } from "../../kit/loggers/instrumentation.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** Called with every line that a logger of the copy has made, before it is written, and with the text of the time in it. */
export type LineListener = (logger: NativeLogger, line: string, value: number, time: string) => void;

type AsJson = (this: NativeLogger, object: unknown, message: unknown, value: number, time: string) => string;

/** Hears the lines of all loggers of one copy of pino, after its redaction and formatting. */
export class RecordTap extends Instrumentation<LineListener> {
  readonly #copy: PinoCopy;

  constructor(copy: PinoCopy) {
    super();
    this.#copy = copy;
  }

  protected install(): () => void {
    const { prototype, lines } = this.#copy;
    const { asJson } = lines;
    const { observers } = this;
    const original = prototype[asJson] as AsJson;
    const replacement: AsJson = function asJson(object, message, value, time) {
      const line = original.call(this, object, message, value, time);
      for (const observer of observers) observer(this, line, value, time);
      return line;
    };
    prototype[asJson] = replacement;
    return () => {
      if (prototype[asJson] === replacement) prototype[asJson] = original;
    };
  }
}
