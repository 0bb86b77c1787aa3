import { ActuatorError } from "../../../common/error.ts";
import { requireVersion } from "../library-version.ts";
import { type Send, sendBy } from "./source.ts";

/** The most connections of our own, and the most statements, at once. */
export const MAX_CONNECTIONS = 4;

/**
 * Opens connections of our own to `url` with the package `pg`, which the application installs: when needed, and until they
 * are idle or broken. None keeps the process alive.
 *
 * @throws ActuatorError INVALID_ARGUMENT if `url` is not such a URL.
 */
export function ownPool(url: string, timeoutMs: number): { readonly send: Send; close(): Promise<void> } {
  checkUrl(url);
  let pool: Promise<{ readonly send: Send; end(): Promise<void> }> | undefined;
  let closed = false;

  async function connect(): Promise<{ readonly send: Send; end(): Promise<void> }> {
    const { default: pg } = await packagePg();
    requireVersion({ library: "pg", versions: "8" });
    const limited = Number.isFinite(timeoutMs);
    const made = new pg.Pool({
      connectionString: url,
      max: MAX_CONNECTIONS,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      connectionTimeoutMillis: limited ? timeoutMs : 30_000,
      // Not the server's statement_timeout: poolers such as PgBouncer refuse connections that set it.
      ...(limited && { query_timeout: timeoutMs }),
      keepAlive: true,
      application_name: "connect-actuator",
    });
    // The pool replaces an idle connection that breaks; an error event without a listener would end the process.
    made.on("error", () => {});
    return { send: sendBy(made, timeoutMs), end: () => made.end() };
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
    const message = 'A URL of PostgreSQL needs the package "pg": npm install pg. Or pass the application\'s pool.';
    throw new ActuatorError("FAILED_PRECONDITION", "PACKAGE_MISSING", message, { package: "pg" }, { cause });
  }
}
