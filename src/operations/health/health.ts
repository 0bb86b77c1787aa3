import { randomUUID } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import { BoundedCheck } from "./bounded-check.ts";
import type { HealthCheck, HealthOptions } from "./health-options.ts";
import { aggregateStatus, type ComponentHealth, type HealthStatus } from "./health-status.ts";

/** The health at one moment. */
export interface HealthReport {
  readonly status: HealthStatus;
  /** What it is made of, by name. */
  readonly components: ReadonlyMap<string, ComponentHealth>;
}

/** What the health knows besides what the application configured. */
export interface HealthSettings {
  /** Checks that are there by themselves, where checks are configured at all. */
  readonly builtIn?: Readonly<Record<string, HealthCheck>> | undefined;
  /** Hears why a check fails, when it begins to. */
  readonly onError?: ((error: unknown, context: string) => void) | undefined;
}

/**
 * The health of the process, told to whoever asks or watches. Without options it is UP while requests are welcome; with them
 * it depends on checks as well. They run when somebody asks, and again and again only while somebody watches.
 */
export class Health {
  /** Whether there are checks, so that there is more to tell than a status. */
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

  /** The status as it was last seen: UNKNOWN where a check has not run yet. */
  get status(): HealthStatus {
    return this.report.status;
  }

  /** OUT_OF_SERVICE from the moment a drain begins, whatever the checks say. */
  set status(status: "UP" | "OUT_OF_SERVICE") {
    this.#own = status;
    this.#tell();
  }

  /** All that was last seen. */
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

  /** Asks every check. Synchronous where none has to run. While the process drains, none does. */
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

  /** The status as it was last seen; asks the checks, so that it is newer the next time. For those who cannot wait. */
  glance(): HealthStatus {
    void this.check();
    return this.status;
  }

  /** Asks the check of one component, or says how it was last seen while the process drains; undefined: there is none. */
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

/**
 * Whether the store of the sessions answers, for the check `sessions`: it is asked for one that nobody has, which costs it
 * one look and is no access to a session.
 */
export function sessionStoreCheck(store: { findById(id: string): Promise<unknown> }): HealthCheck {
  return async () => {
    try {
      await store.findById(randomUUID());
    } catch (error) {
      // It cannot look at all, which says nothing about whether it is there.
      if (error instanceof ActuatorError && error.code === "UNIMPLEMENTED") return "UNKNOWN";
      throw error;
    }
    return "UP";
  };
}
