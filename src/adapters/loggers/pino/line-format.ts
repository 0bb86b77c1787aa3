import { LEVELS } from "../../../loggers/level.ts";
import { type LevelOrder, levelOrder } from "./level-order.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** The verbosity of records that no level but the application's own lets through. */
const TRACE = LEVELS.length - 1;

/** How the loggers of one root with the same levels write. */
export class LineFormat {
  readonly levels: NativeLogger["levels"];
  readonly messageKey: string;
  readonly errorKey: string;
  /** The key that the application's fields are nested under, if any. */
  readonly nestedKey: string | null;
  /** Some applications redact here. */
  readonly streamWrite: ((line: string) => unknown) | undefined;
  readonly #order: LevelOrder;
  /** What lines begin with, by the value of their level. */
  readonly #levelTexts: Readonly<Record<number, string>>;

  constructor(copy: PinoCopy, logger: NativeLogger) {
    const { messageKey, errorKey, nestedKey, hooks, levelTexts } = copy.lines;
    this.levels = logger.levels;
    this.messageKey = logger[messageKey] as string;
    this.errorKey = errorKey === undefined ? "err" : (logger[errorKey] as string);
    this.nestedKey = logger[nestedKey] as string | null;
    this.streamWrite = (logger[hooks] as Pick<LineFormat, "streamWrite">).streamWrite;
    this.#order = levelOrder(copy, logger);
    this.#levelTexts = logger[levelTexts] as Record<number, string>;
  }

  verbosity(value: number): number {
    return this.#order.record(value).verbosity ?? TRACE;
  }

  label(value: number): string {
    return this.#order.record(value).label;
  }

  /** What a line begins with: its level and time. */
  head(value: number, time: string): string {
    return this.#levelTexts[value] + time;
  }
}
