import type { LoggerHandle } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";
import { gateOf } from "./level-gate.ts";
import type { NativeLogger } from "./native.ts";

/** One winston logger, held weakly: a logger made for one request goes when the request does. */
export class WinstonHandle implements LoggerHandle {
  readonly name: string;
  /** Whether somebody gave the logger a level before it was found. */
  readonly own: boolean;
  readonly parent: WinstonHandle | undefined;
  readonly logger: WeakRef<NativeLogger>;

  constructor(name: string, logger: NativeLogger, own: boolean, parent: WinstonHandle | undefined) {
    this.name = name;
    this.own = own;
    this.parent = parent;
    this.logger = new WeakRef(logger);
  }

  apply(level: Level): Level {
    const logger = this.logger.deref();
    return (logger && gateOf(logger)?.apply(level)) ?? level;
  }
}
