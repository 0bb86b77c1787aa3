import { randomUUID } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import { BoundedCheck, type CheckTimes } from "./bounded-check.ts";
import type { HealthCheck, HealthOptions } from "./health-options.ts";
import { aggregateStatus, type ComponentHealth, type HealthStatus, HealthWarnings } from "./health-status.ts";

/** The health at one moment. */
export interface HealthReport {
  readonly status: HealthStatus;
  /** Its components, by name. */
  readonly components: ReadonlyMap<string, ComponentHealth>;
}

/** Settings of the health besides the options of the application. */
export interface HealthSettings {
  /** Built-in checks, used only if checks are configured. */
  readonly builtIn?: Readonly<Record<string, HealthCheck>> | undefined;
  /** Called with the reason when a check begins to fail. */
  readonly onError?: ((error: unknown, context: string) => void) | undefined;
}

/**
 * The health of the process. Without options it is UP until a drain begins; with options it depends on checks as well. They run
 * when a client asks, and periodically only while a client watches.
 */
export class Health {
  /** Whether checks are configured, so that there are components to show. */
  readonly hasChecks: boolean;
  readonly #checks: ReadonlyMap<string, BoundedCheck>;
  readonly #intervalMs: number;
  readonly #listeners = new Set<(status: HealthStatus) => void>();
  #own: "UP" | "OUT_OF_SERVICE" = "UP";
  #told: HealthStatus;
  #timer: NodeJS.Timeout | undefined;

  constructor(options?: HealthOptions, { builtIn, onError = () => undefined }: HealthSettings = {}) {
    this.hasChecks = options !== undefined;
    const { timeoutMs = 1_000, cacheMs = 1_000, intervalMs = 5_000 } = options ?? {};
    const checks = options === undefined ? [] : Object.entries<HealthCheck | false>({ ...builtIn, ...options.checks });
    this.#checks = new Map(
      checks.flatMap(([name, check]) => {
        const onFailure = (error: unknown) => onError(error, `health of ${name}`);
        return check ? [[name, new BoundedCheck(check, { timeoutMs, cacheMs }, onFailure)]] : [];
      }),
    );
    this.#intervalMs = intervalMs;
    this.#told = this.status;
  }

  /** The last known status; UNKNOWN if a check has not run yet. */
  get status(): HealthStatus {
    return this.report.status;
  }

  /** OUT_OF_SERVICE from the moment a drain begins, whatever the checks say. */
  set status(status: "UP" | "OUT_OF_SERVICE") {
    this.#own = status;
    this.#tell();
  }

  /** The last known health. */
  get report(): HealthReport {
    const components = new Map<string, ComponentHealth>();
    if (this.hasChecks) components.set("drain", { status: this.#own });
    let complete = true;
    for (const [name, { latest }] of this.#checks) {
      complete &&= latest !== undefined;
      components.set(name, latest ?? { status: "UNKNOWN" });
    }
    if (this.#own !== "UP") return { status: this.#own, components };
    const statuses = Array.from(components.values(), ({ status }) => status);
    return { status: complete ? aggregateStatus([this.#own, ...statuses]) : "UNKNOWN", components };
  }

  /** The times of each check that has run, by its name. */
  get times(): ReadonlyMap<string, CheckTimes> {
    return new Map([...this.#checks].flatMap(([name, { times }]) => (times === undefined ? [] : [[name, times]])));
  }

  /** Runs every check whose answer is too old. Synchronous if none has to run; while the process drains, none does. */
  check(): HealthReport | Promise<HealthReport> {
    if (this.#own !== "UP") return this.report;
    const running = Array.from(this.#checks.values(), (check) => check.ask()).filter(
      (answer) => answer instanceof Promise,
    );
    if (running.length === 0) return this.report;
    return Promise.all(running).then(() => {
      this.#tell();
      return this.report;
    });
  }

  /** The last known status, for callers that cannot wait. Starts the checks, so that it is newer the next time. */
  glance(): HealthStatus {
    void this.check();
    return this.status;
  }

  /** The health of one component, its last known one while the process drains; undefined if there is no such component. */
  checkComponent(name: string): ComponentHealth | Promise<ComponentHealth> | undefined {
    const check = this.#own === "UP" ? this.#checks.get(name) : undefined;
    return check?.ask() ?? this.report.components.get(name);
  }

  /** Calls `listener` at every change of the status until the returned function is called. Meanwhile the checks run. */
  onChange(listener: (status: HealthStatus) => void): () => void {
    this.#listeners.add(listener);
    if (this.#checks.size > 0) this.#timer ??= setInterval(() => void this.check(), this.#intervalMs).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #tell(): void {
    const { status } = this;
    if (status === this.#told) return;
    this.#told = status;
    for (const listener of this.#listeners) listener(status);
  }
}

/** The check `levels`: warns of a state file that lost levels or cannot store them, which are in force all the same. */
export function storedLevelsCheck(loggers: { readonly stateProblems: readonly string[] }): HealthCheck {
  return () => {
    const { stateProblems } = loggers;
    return stateProblems.length === 0 ? "UP" : new HealthWarnings(stateProblems);
  };
}

/** As much of a session store as its check needs. */
interface CheckedStore {
  findById(id: string): Promise<unknown>;
  warnings?(): Promise<readonly string[]>;
}

/**
 * The check `sessions`: whether the session store answers. It looks up a random id, which costs one read and does not access a
 * session. It passes on the store's warnings.
 */
export function sessionStoreCheck(store: CheckedStore): HealthCheck {
  return async () => {
    try {
      await store.findById(randomUUID());
    } catch (error) {
      // The store cannot look up sessions, which says nothing about its health.
      if (error instanceof ActuatorError && error.code === "UNIMPLEMENTED") return "UNKNOWN";
      throw error;
    }
    const warnings = (await store.warnings?.()) ?? [];
    return warnings.length === 0 ? "UP" : new HealthWarnings(warnings);
  };
}
