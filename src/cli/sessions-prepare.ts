import { type Command, InvalidArgumentError, Option } from "commander";
import type { PrepareStep } from "../adapters/sessions/connect-pg-simple/prepare.ts";
import type { PrepareConnectRedisOptions } from "../adapters/sessions/connect-redis/prepare.ts";
import { durationToText } from "../common/duration.ts";
import { printable, printableJson } from "../common/printable.ts";
import { CliError, EXIT, type ExitCode } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { examples, type GlobalOptions } from "./options.ts";
import { countText, note, print, StatusLine } from "./output.ts";
import { failureOf, STORES, type Store, storeOption, urlHelp, urlOf } from "./store-url.ts";

/** The options of `sessions prepare`; some of them are for one store only. */
interface PrepareOptions extends Pick<GlobalOptions, "json" | "timeout"> {
  readonly principal?: readonly [string, ...string[]][];
  readonly dryRun?: boolean;
  readonly table?: string;
  readonly schema?: string;
  readonly remove?: boolean;
  readonly prefix?: string;
  readonly indexPrefix?: string;
  readonly ttl?: number;
  readonly restart?: boolean;
}

const PREPARE = { postgres: preparePostgres, redis: prepareRedis } as const;

/** Adds `sessions prepare`. */
export function addPrepareCommand(sessions: Command): void {
  sessions
    .command("prepare")
    .description("prepare the store for searches by user and by id, while the application runs")
    .addOption(storeOption("postgres", "the PostgreSQL of connect-pg-simple").conflicts("redis"))
    .addOption(storeOption("redis", "the Redis of connect-redis"))
    .option("--principal <paths>", "where a session holds its user: passport.user,userId", pathsOf)
    .addOption(new Option("--table <name>", "the table of the sessions, as in connect-pg-simple").conflicts("redis"))
    .addOption(new Option("--schema <name>", "the schema of that table").conflicts("redis"))
    .addOption(new Option("--remove", "remove what was created").conflicts("redis"))
    .addOption(new Option("--prefix <text>", "the beginning of the keys of sessions").conflicts("postgres"))
    .addOption(new Option("--index-prefix <text>", "the beginning of the keys of the index").conflicts("postgres"))
    .addOption(
      new Option("--ttl <seconds>", "how long sessions without a cookie lifetime last, as in connect-redis")
        .argParser(secondsOf)
        .conflicts("postgres"),
    )
    .addOption(new Option("--restart", "start over instead of resuming an interrupted run").conflicts("postgres"))
    .option("--dry-run", "only say what would be done")
    .addHelpText(
      "after",
      examples(
        ["sessions prepare --postgres --dry-run", "prints the SQL; the URL is in DATABASE_URL"],
        ["sessions prepare --redis -", "reads the URL from standard input"],
        ["sessions prepare --redis redis://127.0.0.1 --principal user.email", "a principal of your own"],
      ) + urlHelp("postgres", "redis"),
    )
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & PrepareOptions & Partial<Record<Store, string | true>>>();
      const store = (Object.keys(STORES) as Store[]).find((each) => options[each] !== undefined);
      if (store === undefined) throw new CliError(EXIT.usage, "prepare takes --postgres or --redis");
      const url = await urlOf(store, options[store]!);
      try {
        process.exitCode = await PREPARE[store](url, options);
      } catch (error) {
        throw failureOf(error);
      }
    });
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

/** Prepares the table of connect-pg-simple for searches. A dry run prints the SQL, for psql. */
async function preparePostgres(
  url: string,
  { table, schema, principal, remove, dryRun = false, json }: PrepareOptions,
): Promise<ExitCode> {
  const { prepareConnectPgSimpleSessions } = await import("../adapters/sessions/connect-pg-simple/prepare.ts");
  let status: StatusLine | undefined;
  const onStep = (step: PrepareStep) => {
    status?.close();
    if (step.state === "begun") status = elapsedTime(step);
    else if (!json) print(dryRun ? plannedStep(step) : `${step.state.padEnd(8)}  ${printable(step.description)}`);
  };
  try {
    const prepared = await prepareConnectPgSimpleSessions({ url, table, schema, principal, remove, dryRun, onStep });
    if (json) print(printableJson(prepared, 2));
    else if (!prepared.changed) note("There is nothing to do.");
    else note(dryRun ? "Nothing was changed." : "Done.");
    return EXIT.ok;
  } finally {
    status?.close();
  }
}

function elapsedTime({ description }: PrepareStep): StatusLine {
  const began = performance.now();
  return new StatusLine(() => `${printable(description)} ${durationToText(performance.now() - began)}`);
}

function plannedStep({ description, sql }: PrepareStep): string {
  const comment = `-- ${printable(description)}`;
  return sql === undefined ? comment : `${comment}\n${printable(sql)};`;
}

type FillProgress = Parameters<NonNullable<PrepareConnectRedisOptions["onProgress"]>>[0];

/**
 * Adds the sessions in a store of connect-redis to its index. Returns the exit code: 1 if the index is still incomplete, that of
 * the signal after Ctrl-C, from where the next run continues.
 */
async function prepareRedis(
  url: string,
  { prefix, indexPrefix, principal, ttl, restart, dryRun = false, timeout, json }: PrepareOptions,
): Promise<number> {
  const { prepareConnectRedisSessions } = await import("../adapters/sessions/connect-redis/prepare.ts");
  const interruption = new Interruption();
  let progress: FillProgress | undefined;
  const status = new StatusLine(
    () => `${progress === undefined ? "reading" : progressText(progress)}; Ctrl-C breaks off`,
  );
  try {
    const result = await prepareConnectRedisSessions({
      ...{ redis: url, prefix, indexPrefix, principal, restart, dryRun, timeoutMs: timeout },
      ttlMs: ttl === undefined ? undefined : ttl * 1_000,
      signal: interruption.signal,
      onProgress: (now) => {
        progress = now;
      },
    });
    status.close();
    const { next, ...counts } = result;
    if (json) print(printableJson(counts, 2));
    else print(`${dryRun ? "found" : "indexed"} ${progressText(result)}`);
    if (interruption.exitCode !== undefined && next !== undefined) {
      note(dryRun ? "Interrupted." : "Interrupted: the next run continues here.");
      return interruption.exitCode;
    }
    if (result.keys === 0) {
      const wanted = printable(prefix ?? "sess:");
      note(`No key begins with ${wanted} there: give the prefix of the store with --prefix.`);
    }
    for (const warning of result.warnings) note(`warning: ${warning}`);
    if (dryRun) note("Nothing was written.");
    else if (result.complete)
      note("Searches now find all sessions, if every process that writes sessions keeps the index.");
    else {
      note("The index is incomplete: a write to it failed, or a process writes sessions without it. Run this again.");
      return EXIT.refused;
    }
    return EXIT.ok;
  } finally {
    status.close();
    interruption.close();
  }
}

function progressText({ sessions, users }: FillProgress): string {
  return `${countText(sessions, "session")}, ${users.toLocaleString("en")} with a user`;
}
