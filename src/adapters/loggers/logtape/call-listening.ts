import { type Level, levelVerbosity } from "../../../loggers/level.ts";
import { levelFromNative, type NativeLevel } from "./level.ts";
import type { NativeLogger, NativeTree } from "./native.ts";
import { filterThreshold } from "./threshold.ts";

/** Hears of a call: on which logger, at which level, and whether the logger's level lets it through. */
export type CallListener = (logger: NativeLogger, level: Level, enabled: boolean) => void;

type Method = (this: CalledLogger, ...values: unknown[]) => unknown;

/** What a method is called on: a logger or, from its `with()`, one with properties before it. */
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

/** What the methods above come down to, some of them later, and what hands a record on to `emit`. */
const INNER_METHODS = ["log", "logLazily", "logTemplate"];

const CATEGORY_PREFIX = Symbol.for("logtape.categoryPrefix");
const SCOPED_CONFIG = Symbol.for("logtape.scopedConfig");

const listenings = new WeakMap<NativeLogger, CallListening>();

/** Tells of every call in a tree of LogTape until the returned function is called. */
export function listenToCalls(tree: NativeTree, listener: CallListener): () => void {
  let listening = listenings.get(tree.root);
  if (listening === undefined) listenings.set(tree.root, (listening = new CallListening(tree)));
  return listening.listen(listener);
}

/** All loggers share one prototype, and those with properties another: their methods are replaced while somebody listens. */
class CallListening {
  readonly #tree: NativeTree;
  readonly #listeners = new Set<CallListener>();
  #undo: readonly (() => void)[] = [];
  /** What is handing a record of its own on to `emit`, which is then no call of the application's. */
  #inside: NativeLogger | undefined;

  constructor(tree: NativeTree) {
    this.#tree = tree;
  }

  listen(listener: CallListener): () => void {
    if (this.#listeners.size === 0) this.#undo = [...this.#replaceAll()];
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      for (const undo of this.#undo) undo();
      this.#undo = [];
    };
  }

  *#replaceAll(): Generator<() => void> {
    const { root, prototype } = this.#tree;
    const listening = this;
    for (const owner of [prototype, Object.getPrototypeOf(root.with({})) as object]) {
      for (const [name, level] of Object.entries(METHODS)) {
        yield* replace(owner, name, (original) => {
          return function call(...values) {
            listening.#tell(this.logger ?? this, level);
            return original.apply(this, values);
          };
        });
      }
    }
    for (const name of INNER_METHODS) {
      yield* replace(prototype, name, (original) => {
        return function call(...values) {
          const outside = listening.#inside;
          listening.#inside = this;
          try {
            return original.apply(this, values);
          } finally {
            listening.#inside = outside;
          }
        };
      });
    }
    yield* replace(prototype, "emit", (original) => {
      return function emit(...values) {
        if (listening.#inside !== this) listening.#tell(this, (values[0] as { level: NativeLevel }).level);
        return original.apply(this, values);
      };
    });
  }

  #tell(logger: NativeLogger, native: NativeLevel): void {
    // Whoever wrapped a replacement keeps calling it after the end.
    if (this.#listeners.size === 0) return;
    const level: Level | undefined = levelFromNative(native);
    // A record that the application made itself may have none of the levels.
    if (level === undefined) return;
    const store = this.#tree.root.contextLocalStorage?.getStore();
    const prefix = isMeta(logger) ? undefined : store?.[CATEGORY_PREFIX];
    const decides = (Array.isArray(prefix) && logger.getDispatcher?.(prefix)) || logger;
    // A configuration for one call stands above the filters too.
    const filtered =
      store?.[SCOPED_CONFIG] === undefined && levelVerbosity(level) > levelVerbosity(filterThreshold(decides));
    const enabled = logger.isEnabledFor(native) && !filtered;
    for (const listener of this.#listeners) listener(decides, level, enabled);
  }
}

/** What LogTape tells of itself goes by no prefix. */
function isMeta({ category }: NativeLogger): boolean {
  return category.length >= 2 && category[0] === "logtape" && category[1] === "meta";
}

function* replace(owner: object, name: string, replacement: (original: Method) => Method): Generator<() => void> {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  if (typeof before?.value !== "function") return;
  const value = replacement(before.value as Method);
  Object.defineProperty(owner, name, { ...before, value });
  yield () => {
    // Somebody else may have wrapped it in the meantime.
    if (Object.getOwnPropertyDescriptor(owner, name)?.value === value) Object.defineProperty(owner, name, before);
  };
}
