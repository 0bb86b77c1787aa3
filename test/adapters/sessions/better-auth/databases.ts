import { DatabaseSync } from "node:sqlite";
import type { BetterAuthOptions } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { Pool } from "pg";
import { onTestFinished } from "vitest";
import type { PostgresServer } from "../../../support/postgres-server.ts";

/** What better-auth takes as its option `database`. */
type Database = NonNullable<BetterAuthOptions["database"]>;

/** An empty database of SQLite, in memory. */
export function sqlite(): Database {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  return database;
}

/** better-auth's own database for development; `sessions` is the name of the table of sessions. */
export function memory(sessions = "session"): Database {
  return memoryAdapter({ user: [], [sessions]: [], account: [], verification: [] });
}

let databases = 0;

/** A new database of a server, and a pool of connections to it as applications have one. */
export async function postgres(server: PostgresServer): Promise<Pool> {
  const name = `application${++databases}`;
  await server.query(`CREATE DATABASE ${name}`);
  const pool = new Pool({ connectionString: server.url.replace(/postgres$/, name) });
  // Without a listener a connection that breaks ends the process.
  pool.on("error", () => {});
  // The pool listens to the clients that are idle, and not to those between two queries.
  pool.on("connect", (client) => client.on("error", () => {}));
  onTestFinished(() => pool.end());
  return pool;
}
