import { AsyncLocalStorage } from "node:async_hooks";
import { ActuatorError } from "../common/error.ts";
import type { CallGate } from "./adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "./level.ts";
import type { Activity, Libraries } from "./libraries.ts";
import { isAtOrBelow, loggerName, ROOT } from "./name.ts";

/** The loggers to which a level for one request applies. */
export interface RequestLevelOptions {
  /** The logger with this name and all loggers below it. Default: all. */
  readonly logger?: string | undefined;
}

interface Scope {
  readonly verbosity: number;
  /** Undefined for all loggers. */
  readonly logger: string | undefined;
  readonly outer: Scope | undefined;
  open: boolean;
}

/** Gates stay this long after the last scope, so that several flagged requests in a row do not each add and remove them. */
const LINGER_MS = 1_000;

/** Levels that apply only inside a function. One second after the last scope has closed, all loggers are as before. */
export class RequestLevels {
  readonly #libraries: Libraries;
  readonly #warn: (message: string) => void;
  readonly #storage = new AsyncLocalStorage<Scope>();
  #openScopes = 0;
  #gating: Activity | undefined;
  #closed = false;
  #lingering: NodeJS.Timeout | undefined;

  /** `warn` is called if an adapter throws. */
  constructor(libraries: Libraries, warn: (message: string) => void) {
    this.#libraries = libraries;
    this.#warn = warn;
  }

  /** Runs `run` with `level`, until it has returned or the promise that it returned is settled. */
  withLevel<T>(level: Level, run: () => T, options: RequestLevelOptions): T {
    if (!LEVELS.includes(level)) {
      const message = `The level must be one of ${LEVELS.join(", ")}.`;
      throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "level" });
    }
    const name = options.logger === undefined ? ROOT : loggerName(options.logger);
    if (this.#closed) return run();
    const logger = name === ROOT ? undefined : name;
    const outer = this.#storage.getStore();
    const scope: Scope = { verbosity: levelVerbosity(level), logger, outer, open: true };
    this.#open();
    const close = () => this.#close(scope);
    return this.#storage.run(scope, () => {
      let result: T;
      try {
        result = run();
      } catch (error) {
        close();
        throw error;
      }
      // The caller gets the promise that follows, so that an unhandled rejection is still reported.
      if (isThenable(result)) return Promise.resolve(result).finally(close) as T;
      close();
      return result;
    });
  }

  /** Removes all gates permanently. `withLevel` still runs functions, at the levels that the loggers have. */
  end(): void {
    this.#closed = true;
    this.#removeGates();
  }

  #open(): void {
    this.#openScopes++;
    clearTimeout(this.#lingering);
    this.#gating ??= this.#libraries.begin(
      (adapter) => adapter.gate?.(this.#lets),
      (kind, error) => this.#warn(`${kind} failed with levels for one request: ${error}`),
    );
  }

  #close(scope: Scope): void {
    scope.open = false;
    if (--this.#openScopes > 0 || this.#gating === undefined) return;
    this.#lingering = setTimeout(() => this.#removeGates(), LINGER_MS).unref();
  }

  #removeGates(): void {
    clearTimeout(this.#lingering);
    this.#gating?.end();
    this.#gating = undefined;
    // Before Node.js 24 an enabled storage slows down every promise of the process.
    this.#storage.disable();
  }

  readonly #lets: CallGate = (verbosity, logger, nameOf) => {
    if (this.#openScopes === 0) return false;
    let name: string | undefined;
    for (let scope = this.#storage.getStore(); scope !== undefined; scope = scope.outer) {
      if (!scope.open || verbosity > scope.verbosity) continue;
      name ??= nameOf(logger);
      if (name === undefined) return false;
      if (scope.logger === undefined || isAtOrBelow(loggerName(name), scope.logger)) return true;
    }
    return false;
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
