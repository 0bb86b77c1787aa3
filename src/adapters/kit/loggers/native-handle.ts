import type { LoggerHandle } from "../../../loggers/adapter.ts";
import type { Level } from "../../../loggers/level.ts";

/** The handle of one native logger under its name. It holds the logger weakly: one made for a request goes when the request does. */
export abstract class NativeHandle<Native extends object> implements LoggerHandle {
  readonly name: string;
  readonly parent: LoggerHandle | undefined;
  readonly #logger: WeakRef<Native>;

  /** `parent` is the handle whose level the logger follows natively, if any. */
  constructor(name: string, logger: Native, parent?: LoggerHandle) {
    this.name = name;
    this.parent = parent;
    this.#logger = new WeakRef(logger);
  }

  /** The logger; undefined once it was collected. */
  get logger(): Native | undefined {
    return this.#logger.deref();
  }

  abstract get level(): Level;
  abstract apply(level: Level): void;
  abstract restore(): void;
}
