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

/**
 * The native loggers that an adapter manages, by logger and by name, for libraries without a registry of their own (pino,
 * winston). Loggers are held weakly, and of each name only the newest `maxPerName`.
 */
export class NamedLoggers<Native extends object, Handle extends NativeHandle<Native>> {
  readonly #handles = new WeakMap<Native, Handle>();
  readonly #byName = new Map<string, Handle[]>();
  readonly #maxPerName: number;
  readonly #collected: FinalizationRegistry<Handle>;

  /** Calls `onCollected` with the handle of a managed logger that the garbage collector took. */
  constructor(maxPerName: number, onCollected: (handle: Handle) => void) {
    this.#maxPerName = maxPerName;
    this.#collected = new FinalizationRegistry((handle) => {
      this.#delete(handle);
      onCollected(handle);
    });
  }

  /** Notes the handle of a logger, which is not managed yet. */
  set(logger: Native, handle: Handle): void {
    this.#handles.set(logger, handle);
  }

  get(logger: Native): Handle | undefined {
    return this.#handles.get(logger);
  }

  delete(logger: Native): void {
    this.#handles.delete(logger);
  }

  /** Manages the logger of a handle from now on. Returns the oldest handle of the name if that has to make room. */
  manage(logger: Native, handle: Handle): Handle | undefined {
    this.#collected.register(logger, handle);
    const same = this.#byName.get(handle.name);
    if (same === undefined) this.#byName.set(handle.name, [handle]);
    else if (same.push(handle) > this.#maxPerName) return same.shift();
    return undefined;
  }

  isManaged(handle: Handle): boolean {
    return this.#byName.get(handle.name)?.includes(handle) === true;
  }

  /** The handles of all managed loggers. */
  managed(): Handle[] {
    return [...this.#byName.values()].flat();
  }

  /** Manages no logger any more. The handles stay known. */
  clear(): void {
    this.#byName.clear();
  }

  /**
   * The handle whose level a logger has, if children inherit from their parent object: its own, or that of the nearest object
   * above it. `isIndependent` stops at a logger without a handle that does not follow its parent.
   */
  nearest(logger: Native | null | undefined, isIndependent?: (logger: Native) => boolean): Handle | undefined {
    for (let at = logger; at != null; at = Object.getPrototypeOf(at) as Native | null) {
      const handle = this.#handles.get(at);
      if (handle !== undefined) return handle;
      if (isIndependent?.(at)) return undefined;
    }
    return undefined;
  }

  #delete(handle: Handle): void {
    const rest = this.#byName.get(handle.name)?.filter((other) => other !== handle) ?? [];
    if (rest.length === 0) this.#byName.delete(handle.name);
    else this.#byName.set(handle.name, rest);
  }
}

/** Returns a function that finds a logger's name in its metadata: the first non-empty string under one of the keys. */
export function nameUnder(
  keys: readonly string[],
): (metadata: Readonly<Record<string, unknown>>) => string | undefined {
  return (metadata) => {
    for (const key of keys) {
      const name = metadata[key];
      if (typeof name === "string" && name !== "") return name;
    }
    return undefined;
  };
}
