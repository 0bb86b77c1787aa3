import type { LoggerHandle, LoggerHost } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";

/** A logging library in small, whose children inherit live from the logger that made them: what pino 10 does. */
export class NativeTree {
  readonly loggers: NativeLogger[] = [];
  readonly root: NativeLogger;
  readonly #host: LoggerHost;
  /** How many levels were pushed. */
  pushes = 0;

  constructor(host: LoggerHost, level: Level) {
    this.#host = host;
    this.root = this.make("ROOT", undefined, level);
  }

  make(name: string, parent: NativeLogger | undefined, own?: Level): NativeLogger {
    const logger = new NativeLogger(name, parent, own, () => this.pushes++);
    logger.setByApplication = (level) => {
      logger.own = level;
      logger.pushed = undefined;
      this.#host.changedOutside(logger, level);
    };
    this.loggers.push(logger);
    this.#host.discovered(name, logger, own);
    return logger;
  }
}

/** One logger of that library. */
export class NativeLogger implements LoggerHandle {
  readonly name: string;
  readonly parent: NativeLogger | undefined;
  readonly #onPush: () => void;
  /** The level that the application set. */
  own: Level | undefined;
  /** The level that it was given in its place, since when it does not follow its parent. */
  pushed: Level | undefined;
  setByApplication: (level: Level) => void = () => {};

  constructor(name: string, parent: NativeLogger | undefined, own: Level | undefined, onPush: () => void) {
    this.name = name;
    this.parent = parent;
    this.own = own;
    this.#onPush = onPush;
  }

  get level(): Level {
    return this.pushed ?? this.own ?? this.parent!.level;
  }

  /** The level that it has without what was pushed. */
  get application(): Level {
    return this.own ?? this.parent!.application;
  }

  apply(level: Level): void {
    this.#onPush();
    this.pushed = level;
  }

  restore(): void {
    this.pushed = this.application;
  }
}
