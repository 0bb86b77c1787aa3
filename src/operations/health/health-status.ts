/**
 * How the application, or something that it needs, is. The words are the original's. DOWN: it fails. OUT_OF_SERVICE: it is
 * well, and must not be used, as from the moment a drain begins. UNKNOWN: nobody can tell.
 */
export type HealthStatus = "UP" | "DOWN" | "OUT_OF_SERVICE" | "UNKNOWN";

/** What counts first when several are looked at as one: the original's order. */
export const HEALTH_STATUSES: readonly HealthStatus[] = ["DOWN", "OUT_OF_SERVICE", "UP", "UNKNOWN"];

/** Several as one. */
export function aggregateStatus(statuses: Iterable<HealthStatus>): HealthStatus {
  const present = new Set(statuses);
  return HEALTH_STATUSES.find((status) => present.has(status)) ?? "UNKNOWN";
}

/** How something is that the application needs. */
export interface ComponentHealth {
  readonly status: HealthStatus;
  /** The class of the error that a check failed with. Its text is not here: it may name hosts and users. */
  readonly error?: string | undefined;
  /** The error's code, such as `ECONNREFUSED`, where it has one. */
  readonly code?: string | undefined;
}

/** What a check answered, as a status. */
export function componentHealth(answer: unknown): ComponentHealth {
  if (answer === false) return { status: "DOWN" };
  return { status: HEALTH_STATUSES.find((status) => status === answer) ?? "UP" };
}

/** What a check failed with, as far as it can be shown. */
export function failedHealth(failure: unknown): ComponentHealth {
  const { name, code } = (failure ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  const error = failure instanceof Error && isPlain(name) ? name : "Error";
  return { status: "DOWN", error, ...(isPlain(code) && { code }) };
}

function isPlain(text: unknown): text is string {
  return typeof text === "string" && /^[A-Za-z]\w{0,63}$/.test(text);
}
