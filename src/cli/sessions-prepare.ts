import { ActuatorError } from "../common/error.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";
import { printable } from "./printable.ts";
import type { PrepareOptions } from "./sessions-prepare-options.ts";
import { preparePostgres } from "./sessions-prepare-postgres.ts";
import { prepareRedis } from "./sessions-prepare-redis.ts";

const PREPARE = { postgres: preparePostgres, redis: prepareRedis } as const;

/**
 * Prepares the store at `url` and answers the exit code.
 *
 * @throws CliError that does not repeat the URL, in which there may be a password.
 */
export async function prepareSessions(
  store: keyof typeof PREPARE,
  url: string,
  options: PrepareOptions,
): Promise<number> {
  try {
    return await PREPARE[store](url, options);
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  if (error instanceof ActuatorError) {
    if (error.reason === "PACKAGE_MISSING") {
      const { package: name } = error.metadata;
      const message = `this needs the package ${name}, which is not installed beside connect-actuator: npm install ${name}`;
      return new CliError(EXIT.refused, message);
    }
    const said = [error.message.replace(/\.$/, ""), codeOf(error.cause)]
      .filter((part) => part !== undefined)
      .join(": ");
    if (error.code === "UNAVAILABLE") return new CliError(EXIT.unreachable, said);
    return new CliError(error.code === "INVALID_ARGUMENT" ? EXIT.usage : EXIT.refused, said);
  }
  // What a database itself refuses, with an SQLSTATE.
  if (codeOf(error) !== undefined)
    return new CliError(EXIT.refused, `the store says: ${printable(String((error as Error).message))}`);
  return error;
}

/** ECONNREFUSED of Node.js, 42501 of PostgreSQL: what went wrong in a word without names. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^[A-Z\d_]{2,40}$/.test(code) ? code : undefined;
}
