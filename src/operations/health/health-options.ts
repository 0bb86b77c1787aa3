import { type Checks, option, shaped, timeLimitMs, timerMs } from "../../common/options.ts";
import { isRecord } from "../../common/record.ts";

/**
 * Checks something that the application needs. The check passes unless the function throws, its promise rejects, or it returns
 * `false` or another status. Once `signal` aborts, its result is ignored.
 */
export type HealthCheck = (signal: AbortSignal) => unknown;

/** What the health of the application depends on, besides the process itself. */
export interface HealthOptions {
  /**
   * The checks, by the name that health shows. `sessions` is built in if there is a session store: it looks up a session that
   * does not exist. A check with that name replaces it, and `false` removes it.
   */
  readonly checks?: Readonly<Record<string, HealthCheck | false>> | undefined;
  /** Milliseconds after which a check has failed. Default 1,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds for which a result is reused, so that frequent probes cannot overload what a check looks at. Default 1,000.
   */
  readonly cacheMs?: number | undefined;
  /** How often the checks run while a client watches the health over gRPC, in milliseconds. Default 5,000. */
  readonly intervalMs?: number | undefined;
}

/** Names with a meaning of their own below `/health`, or in the list of components. */
const RESERVED: ReadonlySet<string> = new Set(["drain", "liveness", "readiness"]);

/** What {@link HealthOptions} must be. */
export const HEALTH: Checks<HealthOptions> = {
  checks: shaped({ kind: "code" }, (value) => {
    if (!isRecord(value)) return "must be an object of functions";
    for (const [name, check] of Object.entries(value)) {
      if (!/^[A-Za-z][\w.-]{0,99}$/.test(name)) {
        return `has a check ${JSON.stringify(name)}; a name is a letter, then letters, digits, ".", "_" and "-"`;
      }
      if (RESERVED.has(name)) return `cannot have a check "${name}"; that name is reserved`;
      if (check !== false && typeof check !== "function") return `has a check "${name}" that is not a function`;
    }
    return undefined;
  }),
  timeoutMs: option(timeLimitMs, { default: 1_000 }),
  cacheMs: option(timerMs, { default: 1_000 }),
  intervalMs: option(timeLimitMs, { default: 5_000 }),
};
