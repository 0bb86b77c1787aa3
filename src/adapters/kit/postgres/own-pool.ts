import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../library-version.ts";
import type { Send } from "./prepared.ts";
import { sendBy } from "./source.ts";

/** The most connections of our own at once. */
export const MAX_CONNECTIONS = 4;

/**
 * Connections of our own to `url` by the package `pg`, which the application installs. They are made when needed and given
 * up when idle or broken; none keeps the process alive.
 *
 * @throws ActuatorError INVALID_ARGUMENT where `url` is no such URL.
 */
export function ownPool(url: string, timeout: number): { readonly send: Send; close(): Promise<void> } {
  checkUrl(url);
  let pool: Promise<{ readonly send: Send; end(): Promise<void> }> | undefined;
  let closed = false;

  async function connect(): Promise<{ readonly send: Send; end(): Promise<void> }> {
    const { default: pg } = await packagePg();
    requireVersion({ library: "pg", versions: "8" });
    const limited = Number.isFinite(timeout);
    const made = new pg.Pool({
      connectionString: url,
      max: MAX_CONNECTIONS,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      connectionTimeoutMillis: limited ? timeout : 30_000,
      // The limit is kept here, not by the server's statement_timeout: poolers such as PgBouncer refuse a connection that
      // asks for it.
      ...(limited && { query_timeout: timeout }),
      keepAlive: true,
      application_name: "connect-actuator",
    });
    // An idle connection broke. The pool replaces it; an error event that nobody listens to would end the process.
    made.on("error", () => {});
    return { send: sendBy(made, timeout), end: () => made.end() };
  }

  return {
    async send(text, values) {
      if (closed) throw new Error("The connection is closed.");
      pool ??= connect().catch((error) => {
        pool = undefined;
        throw error;
      });
      return (await pool).send(text, values);
    },
    async close() {
      closed = true;
      const made = await pool?.catch(() => undefined);
      pool = undefined;
      await made?.end();
    },
  };
}

function checkUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : "";
  if (protocol === "postgres:" || protocol === "postgresql:") return;
  // Not the URL itself: it may hold a password.
  const message = 'The URL of PostgreSQL must be like "postgres://user:password@host:5432/database".';
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_OPTION", message, { field: "postgres" });
}

async function packagePg(): Promise<{ default: typeof import("pg") }> {
  try {
    return (await import("pg")) as unknown as { default: typeof import("pg") };
  } catch (cause) {
    const message = 'A URL of PostgreSQL needs the package "pg": npm install pg. Or pass the pool of the application.';
    throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: "pg" }, { cause });
  }
}
