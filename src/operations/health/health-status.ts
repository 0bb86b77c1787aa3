/**
 * The health of the application or of something that it needs, in Spring Boot's words. DOWN: it fails. OUT_OF_SERVICE: it works
 * but must not be used, as when a drain has begun. UNKNOWN: it is not known.
 */
export type HealthStatus = "UP" | "DOWN" | "OUT_OF_SERVICE" | "UNKNOWN";

/** The order in which one status of several takes precedence, as in Spring Boot. */
export const HEALTH_STATUSES: readonly HealthStatus[] = ["DOWN", "OUT_OF_SERVICE", "UP", "UNKNOWN"];

/** Aggregates several statuses to one. */
export function aggregateStatus(statuses: Iterable<HealthStatus>): HealthStatus {
  const present = new Set(statuses);
  return HEALTH_STATUSES.find((status) => present.has(status)) ?? "UNKNOWN";
}

/** The health of something that the application needs. */
export interface ComponentHealth {
  readonly status: HealthStatus;
  /** The class of the error that a check failed with. Its text is not here: it may name hosts and users. */
  readonly error?: string | undefined;
  /** The error's code, such as `ECONNREFUSED`, where it has one. */
  readonly code?: string | undefined;
  /** What an operator should change, though it works. */
  readonly warnings?: readonly string[] | undefined;
}

/** The answer of a built-in check that works, and warns of something. */
export class HealthWarnings {
  readonly warnings: readonly string[];

  constructor(warnings: readonly string[]) {
    this.warnings = warnings;
  }
}

/** The health that a check's answer stands for. */
export function componentHealth(answer: unknown): ComponentHealth {
  if (answer === false) return { status: "DOWN" };
  if (answer instanceof HealthWarnings) return { status: "UP", warnings: answer.warnings };
  return { status: HEALTH_STATUSES.find((status) => status === answer) ?? "UP" };
}

/** The health of a check that failed, with what can be shown of the error. */
export function failedHealth(failure: unknown): ComponentHealth {
  const { name, code } = (failure ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  const error = failure instanceof Error && isPlain(name) ? name : "Error";
  return { status: "DOWN", error, ...(isPlain(code) && { code }) };
}

function isPlain(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z]\w{0,63}$/.test(text);
}
