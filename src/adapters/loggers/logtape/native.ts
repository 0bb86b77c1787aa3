import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../../kit/library-version.ts";
import type { NativeLevel } from "./level.ts";

/** A function that LogTape hands each record to. */
export type Sink = (...of: never[]) => unknown;

/** A logger of LogTape from within: one for each category, however often it is asked for. */
export interface NativeLogger {
  readonly parent: NativeLogger | null;
  readonly children: { readonly [name: string]: NativeLogger | WeakRef<NativeLogger> };
  readonly category: readonly string[];
  /** Its own sinks, besides those that it has from its parent. */
  readonly sinks: Sink[];
  readonly filters: readonly ((...of: never[]) => boolean)[];
  /**
   * Which of its parent's sinks it writes to as well: those that the parent's level lets through, none, or, since LogTape 2.4,
   * all of them.
   */
  parentSinks: "inherit" | "override" | "forward";
  lowestLevel: NativeLevel;
  getSinks(level: NativeLevel): Iterable<Sink>;
  isEnabledFor(level: NativeLevel): boolean;
  with(properties: object): object;
  /** The logger that decides under a prefix to all categories; since LogTape 2.4, before which it is always the one called. */
  getDispatcher?(categoryPrefix: readonly string[]): NativeLogger;
  /** Of the root: what holds for one call of the application's and all that it comes to. */
  readonly contextLocalStorage?: { getStore(): Readonly<Record<symbol, unknown>> | undefined } | undefined;
}

/** What all loggers inherit; its methods make them and take their configuration away. */
export interface NativePrototype extends NativeLogger {
  readonly constructor: new (parent: NativeLogger | null, category: readonly string[]) => NativeLogger;
  getChild(subcategory: unknown): NativeLogger;
  resetDescendants(): void;
}

/** The one tree of loggers that all copies of LogTape in a process share. */
export interface NativeTree {
  readonly root: NativeLogger;
  readonly prototype: NativePrototype;
  /** Whether a logger can write to its parent's sinks whatever level its parent has. */
  readonly forwards: boolean;
}

/**
 * The tree of this process, where LogTape keeps it for all its copies.
 *
 * @throws ActuatorError FAILED_PRECONDITION where LogTape is not loaded yet, or one of another major version is.
 */
export function nativeTree(): NativeTree {
  const root = (globalThis as Record<symbol, unknown>)[Symbol.for("logtape.rootLogger")] as NativeLogger | undefined;
  const prototype = root && (Object.getPrototypeOf(root) as NativePrototype);
  const methods = [prototype?.getChild, prototype?.resetDescendants, prototype?.getSinks];
  if (root === undefined || prototype === undefined || !methods.every((method) => typeof method === "function")) {
    const message = "logtapeLoggers expects LogTape 2 to be loaded before: import @logtape/logtape.";
    throw new ActuatorError("FAILED_PRECONDITION", "LOGTAPE_NOT_LOADED", message);
  }
  requireVersion({ subpath: "logtape", library: "@logtape/logtape", versions: "2" });
  return { root, prototype, forwards: forwards(prototype) };
}

/** The logger and all below it that are still in use, each after its parent. */
export function* loggersBelow(logger: NativeLogger): Generator<NativeLogger> {
  yield logger;
  for (const held of Object.values(logger.children)) {
    const child = "deref" in held ? held.deref() : held;
    if (child !== undefined) yield* loggersBelow(child);
  }
}

/** The copy that made the root decides, whatever version the others have; so it is tried on loggers outside the tree. */
function forwards({ constructor: Logger }: NativePrototype): boolean {
  const parent = new Logger(null, []);
  const child = new Logger(parent, ["child"]);
  parent.sinks.push(() => {});
  parent.lowestLevel = null;
  child.parentSinks = "forward";
  return [...child.getSinks("fatal")].length > 0;
}
