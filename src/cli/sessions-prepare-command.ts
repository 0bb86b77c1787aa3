import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "./cli-error.ts";
import { examples } from "./examples.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { lineOfInput } from "./input.ts";
import { note } from "./output.ts";
import type { PrepareOptions } from "./sessions-prepare-options.ts";

/** The stores that can be prepared, each with the variable of the environment that holds its URL where none is typed. */
const STORES = { postgres: "DATABASE_URL", redis: "REDIS_URL" } as const;
type Store = keyof typeof STORES;

const URLS = `
This talks to the store itself, not to an actuator. A password on a command line
others on this machine may see: have the URL in DATABASE_URL or REDIS_URL, or
read from standard input with -. PGPASSWORD and the like work, too.`;

/** Adds `sessions prepare`. */
export function addPrepareCommand(sessions: Command): void {
  sessions
    .command("prepare")
    .description("make the store ready for searches by user and by id, without a pause for the application")
    .addOption(storeOption("postgres", "the PostgreSQL of connect-pg-simple").conflicts("redis"))
    .addOption(storeOption("redis", "the Redis of connect-redis"))
    .option("--principal <paths>", "where a session says whose it is: passport.user,userId", pathsOf)
    .addOption(
      new Option("--table <name>", "the table of the sessions, as connect-pg-simple has it").conflicts("redis"),
    )
    .addOption(new Option("--schema <name>", "the schema of that table").conflicts("redis"))
    .addOption(new Option("--remove", "take out again what was made").conflicts("redis"))
    .addOption(new Option("--prefix <text>", "what the keys of sessions begin with").conflicts("postgres"))
    .addOption(new Option("--index-prefix <text>", "what the keys of the index begin with").conflicts("postgres"))
    .addOption(
      new Option("--ttl <seconds>", "how long sessions last whose cookie does not say, as connect-redis has it")
        .argParser(secondsOf)
        .conflicts("postgres"),
    )
    .addOption(new Option("--restart", "begin anew instead of where a run was broken off").conflicts("postgres"))
    .option("--dry-run", "only say what would be done")
    .addHelpText(
      "after",
      examples(
        ["sessions prepare --postgres --dry-run", "prints the SQL; the URL is in DATABASE_URL"],
        ["sessions prepare --redis -", "reads the URL from standard input"],
        ["sessions prepare --redis redis://127.0.0.1 --principal user.email", "a principal of your own"],
      ) + URLS,
    )
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & PrepareOptions & Partial<Record<Store, string | true>>>();
      const store = (Object.keys(STORES) as Store[]).find((each) => options[each] !== undefined);
      if (store === undefined) throw new CliError(EXIT.usage, "prepare takes --postgres or --redis");
      const url = await urlOf(store, options[store]!);
      const { prepareSessions } = await import("./sessions-prepare.ts");
      process.exitCode = await prepareSessions(store, url, options);
    });
}

function storeOption(store: Store, what: string): Option {
  return new Option(
    `--${store} [url]`,
    `${what}; without a URL that of ${STORES[store]}, - reads it from standard input`,
  );
}

async function urlOf(store: Store, typed: string | true): Promise<string> {
  if (typed === "-") return lineOfInput("URL of a store");
  if (typed !== true) {
    if (URL.parse(typed)?.password)
      note(`warning: others on this machine may see the password; --${store} - reads the URL`);
    return typed;
  }
  const url = process.env[STORES[store]];
  if (url) return url;
  throw new CliError(EXIT.usage, `--${store} takes a URL, or that of ${STORES[store]}, which is not set`);
}

function secondsOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a number of seconds from 1.");
}

function pathsOf(text: string): [string, ...string[]][] {
  const paths = text.split(",").map((path) => path.trim().split("."));
  if (paths.flat().every((key) => key !== "")) return paths as [string, ...string[]][];
  throw new InvalidArgumentError("Give paths such as passport.user,userId.");
}
