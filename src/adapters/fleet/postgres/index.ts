import { ActuatorError } from "../../../common/error.ts";
import type { FleetEngineSource } from "../../../fleet/engine.ts";
import { type FleetClient, type FleetClients, PostgresEngine } from "./engine.ts";

export { FLEET_TABLES, prepareFleetTables } from "./tables.ts";

/** How PostgreSQL is reached: the options of a client of `pg`. */
export interface PostgresFleetConfig {
  readonly password?: unknown;
  readonly [option: string]: unknown;
}

/** A pool of `pg`, whose options are used. */
export interface PostgresFleetPool {
  readonly options: object;
  readonly totalCount: number;
}

/** How a fleet in PostgreSQL is found. */
export interface PostgresFleetOptions {
  /**
   * An address for LISTEN alone that leads past a pooler such as PgBouncer, which loses notifications. Default: with a pooler, changes
   * arrive by asking every 2 seconds.
   */
  readonly listenUrl?: string | undefined;
}

/** Without what makes a client keep a connection that no longer answers. */
const FIXED = {
  application_name: "connect-actuator fleet",
  connectionTimeoutMillis: 3_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  query_timeout: undefined,
  statement_timeout: undefined,
};

/**
 * Keeps what a fleet has in common in PostgreSQL 12 or later, in tables that `prepareFleetTables` makes.
 *
 * Each instance has one connection of its own, which does not keep the process alive, through the package `pg`; a pool of the application
 * only lends its options. Beyond some 80 instances use a pooler: it is recognised.
 *
 * @param source `postgres://` and the server's address, a pool of `pg`, or the options of a client
 * @throws ActuatorError INVALID_ARGUMENT for anything else
 * @example
 * ```ts
 * const engine = postgresFleet("postgres://localhost/shop");
 * ```
 */
export function postgresFleet(
  source: string | PostgresFleetPool | PostgresFleetConfig,
  { listenUrl }: PostgresFleetOptions = {},
): FleetEngineSource {
  const config = configOf(source);
  const clients: FleetClients = {
    make: () => clientWith(config),
    makeListener: listenUrl === undefined ? undefined : () => clientWith(configOf(listenUrl)),
  };
  return { kind: "postgres", open: (fleet) => new PostgresEngine(fleet, clients) };
}

function configOf(source: string | PostgresFleetPool | PostgresFleetConfig): PostgresFleetConfig {
  if (typeof source === "string") {
    // The message does not show the URL: it may hold a password.
    if (!/^postgres(ql)?:\/\//.test(source)) throw invalid();
    const hosts = source.split("/")[2]!.split("@").at(-1)!;
    if (hosts.includes(","))
      throw invalid("one address, not several: use that of a proxy, or one that moves to the primary");
    return { connectionString: source };
  }
  if (typeof source !== "object" || source === null) throw invalid();
  const options = ("totalCount" in source ? source.options : source) as PostgresFleetConfig;
  // A pool hides it from copies.
  return { ...options, ...(options.password !== undefined && { password: options.password }) };
}

async function clientWith(config: PostgresFleetConfig): Promise<FleetClient> {
  const pg = await import("pg").catch(() => undefined);
  if (pg === undefined) {
    const message = 'postgresFleet needs the package "pg": npm install pg.';
    throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: "pg" });
  }
  return new pg.default.Client({ ...config, ...FIXED } as object) as unknown as FleetClient;
}

function invalid(
  what = 'an address such as "postgres://localhost/shop", a pool of "pg", or options of a client',
): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", `postgresFleet takes ${what}.`);
}
