import type { LoggerHandle } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { pushLevel } from "./instrumentation.ts";
import { labelForLevel, levelFromValue } from "./level.ts";
import type { NativeLogger, PinoCopy } from "./native.ts";

/** One pino logger, held weakly: a logger made for one request goes when the request does. */
export class PinoHandle implements LoggerHandle {
  readonly name: string;
  readonly parent: PinoHandle | undefined;
  readonly copy: PinoCopy;
  readonly #logger: WeakRef<NativeLogger>;
  readonly #pushed: Set<PinoHandle>;

  /** `pushed` is given the handle as soon as its logger has a level of its own. */
  constructor(
    name: string,
    copy: PinoCopy,
    logger: NativeLogger,
    parent: PinoHandle | undefined,
    pushed: Set<PinoHandle>,
  ) {
    this.name = name;
    this.parent = parent;
    this.copy = copy;
    this.#pushed = pushed;
    this.#logger = new WeakRef(logger);
  }

  /** The logger; undefined where the application has let go of it. */
  get logger(): NativeLogger | undefined {
    return this.#logger.deref();
  }

  apply(level: Level): Level {
    const { logger } = this;
    if (logger === undefined) return level;
    this.#pushed.add(this);
    pushLevel(this.copy, logger, labelForLevel(logger, level));
    return currentLevel(this.copy, logger);
  }
}

/** The level in effect on a logger, its own or its parent's. */
export function currentLevel({ levelValue }: PinoCopy, logger: NativeLogger): Level {
  return levelFromValue(logger[levelValue] as number);
}
