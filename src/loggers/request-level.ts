import { AsyncLocalStorage } from "node:async_hooks";
import { ActuatorError } from "../common/error.ts";
import type { CallGate, LoggerAdapter } from "./adapter.ts";
import { LEVELS, type Level, levelVerbosity } from "./level.ts";
import { loggerName, ROOT } from "./name.ts";

/** Which loggers a level for one request is for. */
export interface RequestLevelOptions {
  /** The logger with this name and those below it. Default: all. */
  readonly logger?: string | undefined;
}

interface Scope {
  readonly verbosity: number;
  /** Undefined: all loggers. */
  readonly logger: string | undefined;
  readonly outer: Scope | undefined;
  open: boolean;
}

/** Gates stay for so long after the last scope, lest each of several flagged requests in a row put them up and take them down. */
const LINGER_MS = 1_000;

/**
 * Levels for what is done inside a function alone. While no scope is open, and since a second, no logger is changed and nothing
 * is on the way of a call.
 */
export class RequestLevels {
  readonly #adapters = new Set<LoggerAdapter>();
  readonly #warn: (message: string) => void;
  readonly #gates = new Map<LoggerAdapter, () => void>();
  readonly #storage = new AsyncLocalStorage<Scope>();
  #openScopes = 0;
  #gating = false;
  #closed = false;
  #lingering: NodeJS.Timeout | undefined;

  /** `warn` hears of a library that threw. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(adapter: LoggerAdapter): void {
    this.#adapters.add(adapter);
    if (this.#gating) this.#putGate(adapter);
  }

  delete(adapter: LoggerAdapter): void {
    this.#takeGate(adapter);
    this.#adapters.delete(adapter);
  }

  /** Runs `run` with `level`, until it has returned or, where it answers with a promise, that is settled. */
  withLevel<T>(level: Level, run: () => T, options: RequestLevelOptions): T {
    if (!LEVELS.includes(level)) {
      const message = `The level is none of ${LEVELS.join(", ")}.`;
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
      // The promise that the caller gets is the one that follows, so that a rejection nobody handles is still told of.
      if (isThenable(result)) return Promise.resolve(result).finally(close) as T;
      close();
      return result;
    });
  }

  /** Leaves every library as it was, for good: functions still run, at the levels that the loggers have. */
  end(): void {
    this.#closed = true;
    this.#takeGates();
  }

  #open(): void {
    this.#openScopes++;
    clearTimeout(this.#lingering);
    if (this.#gating) return;
    this.#gating = true;
    for (const adapter of this.#adapters) this.#putGate(adapter);
  }

  #close(scope: Scope): void {
    scope.open = false;
    if (--this.#openScopes > 0 || !this.#gating) return;
    this.#lingering = setTimeout(() => this.#takeGates(), LINGER_MS).unref();
  }

  #takeGates(): void {
    clearTimeout(this.#lingering);
    this.#gating = false;
    for (const adapter of [...this.#gates.keys()]) this.#takeGate(adapter);
    // Before Node 24 a storage in use costs something for every promise of the process.
    this.#storage.disable();
  }

  #putGate(adapter: LoggerAdapter): void {
    try {
      const take = adapter.gate?.(this.#lets);
      if (take !== undefined) this.#gates.set(adapter, take);
    } catch (error) {
      this.#warn(`${adapter.kind} takes no level for one request: ${error}`);
    }
  }

  #takeGate(adapter: LoggerAdapter): void {
    const take = this.#gates.get(adapter);
    this.#gates.delete(adapter);
    try {
      take?.();
    } catch (error) {
      this.#warn(`${adapter.kind} was not left as it was after a level for one request: ${error}`);
    }
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

function isAtOrBelow(name: string, ancestor: string): boolean {
  return name === ancestor || name.startsWith(`${ancestor}.`);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
