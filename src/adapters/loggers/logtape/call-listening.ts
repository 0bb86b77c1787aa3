import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { type Method, placeMethod, undoing } from "../../kit/interception/replaced-method.ts";
import { Instrumentation, oncePer } from "../../kit/loggers/instrumentation.ts";
import { levelFromNative, type NativeLevel, type NativeLogger } from "./native.ts";
import { filterThreshold } from "./threshold.ts";

/** Called for each call of a logger, with the call's level and whether the logger lets it through. */
export type CallListener = (logger: NativeLogger, level: Level, enabled: boolean) => void;

/** The `this` of a call: a logger, or an object from its `with()`, which adds properties. */
interface CalledLogger extends NativeLogger {
  readonly logger?: NativeLogger;
}

const METHODS: Readonly<Record<string, NativeLevel>> = {
  fatal: "fatal",
  error: "error",
  warn: "warning",
  warning: "warning",
  info: "info",
  debug: "debug",
  trace: "trace",
};

/** The methods that those above call, some of them later, and that pass a record on to `emit`. */
const INNER_METHODS = ["log", "logLazily", "logTemplate"];

const CATEGORY_PREFIX = Symbol.for("logtape.categoryPrefix");
const SCOPED_CONFIG = Symbol.for("logtape.scopedConfig");

/** Calls `listener` for every call in the tree of a root. Returns a function that stops it. */
export function listenToCalls(root: NativeLogger, listener: CallListener): () => void {
  return listeningOf(root).observe(listener);
}

const listeningOf = oncePer((root: NativeLogger) => new CallListening(root));

/** Sees every call: all loggers share one prototype and all objects from `with()` another, whose methods are replaced. */
class CallListening extends Instrumentation<CallListener> {
  readonly #root: NativeLogger;
  /** The logger that is passing a record to its own `emit`, which is then not a call of the application. */
  #inside: NativeLogger | undefined;

  constructor(root: NativeLogger) {
    super();
    this.#root = root;
  }

  protected install(): () => void {
    const listening = this;
    const { observers } = this;
    const prototype = Object.getPrototypeOf(this.#root) as object;
    const withProperties = Object.getPrototypeOf(this.#root.with({})) as object;
    const levelMethods = [prototype, withProperties].flatMap((owner) =>
      Object.entries(METHODS).map(([name, level]) =>
        placeMethod(owner, name, (original) => {
          return function (this: unknown, ...values) {
            const called = this as CalledLogger;
            listening.#tell(observers, called.logger ?? called, level);
            return original.apply(this, values);
          };
        }),
      ),
    );
    const inner = INNER_METHODS.map((name) => placeMethod(prototype, name, (original) => this.#innerMethod(original)));
    const emit = placeMethod(prototype, "emit", (original) => {
      return function (this: unknown, ...values) {
        const logger = this as NativeLogger;
        const { level } = values[0] as { readonly level: NativeLevel };
        if (listening.#inside !== logger) listening.#tell(observers, logger, level);
        return original.apply(this, values);
      };
    });
    return undoing([...levelMethods, ...inner, emit]);
  }

  #innerMethod(original: Method): Method {
    const listening = this;
    return function (...values) {
      const outside = listening.#inside;
      listening.#inside = this as NativeLogger;
      try {
        return original.apply(this, values);
      } finally {
        listening.#inside = outside;
      }
    };
  }

  #tell(listeners: ReadonlySet<CallListener>, logger: NativeLogger, native: NativeLevel): void {
    if (listeners.size === 0) return;
    const level: Level | undefined = levelFromNative(native);
    // A record that the application made itself may have another level.
    if (level === undefined) return;
    const decides = decidingLogger(this.#root, logger);
    const enabled = isLetThrough(this.#root, logger, native);
    for (const listener of listeners) listener(decides, level, enabled);
  }
}

/** The logger whose level decides on a call: the one called, unless there is a prefix to all categories. */
export function decidingLogger(root: NativeLogger, logger: NativeLogger): NativeLogger {
  const prefix = isMeta(logger) ? undefined : root.contextLocalStorage?.getStore()?.[CATEGORY_PREFIX];
  return (Array.isArray(prefix) && logger.getDispatcher?.(prefix)) || logger;
}

/** Whether the levels of a logger and of its level filters let a record through, as far as they apply. */
export function isLetThrough(root: NativeLogger, logger: NativeLogger, native: NativeLevel): boolean {
  if (!logger.isEnabledFor(native)) return false;
  // A configuration for one call takes precedence over filters too.
  if (hasScopedConfig(root)) return true;
  const level = levelFromNative(native);
  return levelVerbosity(level) <= levelVerbosity(filterThreshold(decidingLogger(root, logger)));
}

/** Whether the present call has a configuration of its own. */
export function hasScopedConfig(root: NativeLogger): boolean {
  return root.contextLocalStorage?.getStore()?.[SCOPED_CONFIG] !== undefined;
}

/** Whether it is LogTape's logger about itself, which ignores prefixes. */
function isMeta({ category }: NativeLogger): boolean {
  return category.length >= 2 && category[0] === "logtape" && category[1] === "meta";
}
