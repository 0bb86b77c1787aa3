import { Option } from "commander";
import { ActuatorError } from "../common/error.ts";
import { printable } from "../common/printable.ts";
import { CliError, EXIT } from "./error.ts";
import { lineOfInput } from "./input.ts";
import { note } from "./output.ts";

/** The stores that commands connect to, each with the environment variable that holds its URL if none is typed. */
export const STORES = { postgres: "DATABASE_URL", redis: "REDIS_URL" } as const;
export type Store = keyof typeof STORES;

/** What the help says of the URLs of these stores. */
export function urlHelp(...stores: readonly Store[]): string {
  const variables = stores.map((store) => STORES[store]).join(" or ");
  return `

The command connects to the store, not to an actuator. Other users of this machine
may see a password on a command line: set ${variables}, or pass - to
read the URL from standard input. PGPASSWORD and the like work, too.`;
}

/** The option for the URL of a store. */
export function storeOption(store: Store, what: string): Option {
  const text = `${what}; without a URL, that of ${STORES[store]}; - reads it from standard input`;
  return new Option(`--${store} [url]`, text);
}

/** Returns the URL that was typed, or that stands where the option says. */
export async function urlOf(store: Store, typed: string | true): Promise<string> {
  if (typed === "-") return lineOfInput("URL of a store");
  if (typed !== true) {
    if (URL.parse(typed)?.password) {
      note(`warning: other users of this machine may see the password; --${store} - reads the URL`);
    }
    return typed;
  }
  const url = process.env[STORES[store]];
  if (url) return url;
  throw new CliError(EXIT.usage, `--${store} takes a URL, or that of ${STORES[store]}, which is not set`);
}

/** Describes the failure of a store without repeating the URL, which may contain a password. */
export function failureOf(error: unknown): unknown {
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
  // PostgreSQL itself refuses, with an SQLSTATE.
  if (codeOf(error) === undefined) return error;
  return new CliError(EXIT.refused, `the store answered: ${printable(String((error as Error).message))}`);
}

/** The code of an error: ECONNREFUSED of Node.js, 42501 of PostgreSQL. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^[A-Z\d_]{2,40}$/.test(code) ? code : undefined;
}
