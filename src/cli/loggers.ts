import { type Command, InvalidArgumentError, Option } from "commander";
import { LEVELS, type Level, levelFromText } from "../loggers/level.ts";
import { CliError, EXIT } from "./error.ts";
import type { TailOptions } from "./loggers-tail.ts";
import { countOf, durationOf, examples, instancesOf, invocationOf, upToOneDay } from "./options.ts";

const NAME = "a logger or a group";
const FILTERS = "beginnings of names, or patterns: * is anything but a dot, ** anything, ? one character";

const MEASURED = `

Columns are calls a second: those of each level, whether it is enabled or not; WRITTEN
are those that the levels let through now; +DEBUG and +TRACE are the lines that the
level would add. Ctrl-C ends it, and shows what was counted.`;

const TAILED = `

Records are text on a terminal and lines of JSON in a pipe. What else there is to say
goes to standard error. The caller needs the permission logs:read, which * does not
include, and loggers:write for --raise.`;

/** The levels as they are typed. */
export const LEVEL_WORDS: readonly string[] = LEVELS.map((level) => level.toLowerCase());

/** Adds `loggers` with its commands. */
export function addLoggersCommands(program: Command): void {
  const loggers = program.command("loggers").description("see and change levels of loggers and groups");
  addReading(loggers);
  addTail(loggers);
  addChanging(loggers);
}

function addReading(loggers: Command): void {
  loggers
    .command("list")
    .description("show loggers as a tree, and groups")
    .argument("[filters...]", FILTERS)
    .option("--configured", "only those with a level of their own")
    .addHelpText(
      "after",
      examples(
        ["loggers list", "all"],
        ["loggers list orders", "those whose names begin with orders"],
        ["loggers list 'orders.*'", "the children of orders"],
        ["loggers list '**.payment' --configured", "payment loggers anywhere that have a level of their own"],
      ),
    )
    .action(async (filters: string[], _, command: Command) => {
      const { connection, options } = await invocationOf<{ configured?: boolean }>(command);
      const { listLoggers } = await import("./loggers-show.ts");
      await listLoggers(connection, filters, options);
    });

  loggers
    .command("get")
    .description("show everything about one logger or group")
    .argument("<name>", NAME)
    .addHelpText("after", examples(["loggers get orders.payment", "level, baseline, who set it, why and until when"]))
    .action(async (name: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { getLogger } = await import("./loggers-show.ts");
      await getLogger(connection, name, options);
    });

  loggers
    .command("watch")
    .description("show loggers, then every change of them, until Ctrl-C")
    .argument("[filters...]", FILTERS)
    .addHelpText(
      "after",
      examples(
        ["loggers watch", "all"],
        ["loggers watch orders --json", "one line of JSON for the snapshot and for each change"],
      ),
    )
    .action(async (filters: string[], _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { watchLoggers } = await import("./loggers-watch.ts");
      await watchLoggers(connection, filters, options);
    });

  loggers
    .command("measure")
    .description("count how often loggers are called, and so what DEBUG and TRACE would add")
    .argument("[prefix]", "the beginning of their names")
    .addOption(new Option("--for <duration>", "how long to count, at most 5m; by default 10s").argParser(lifeOf))
    .addHelpText(
      "after",
      examples(
        ["loggers measure", "all"],
        ["loggers measure orders --for 1m", "those whose names begin with orders, for a minute"],
      ) + MEASURED,
    )
    .action(async (prefix: string | undefined, _, command: Command) => {
      const { connection, options } = await invocationOf<{ for?: number }>(command);
      const { measureLoggers } = await import("./loggers-measure.ts");
      const { preferHttp2 } = await import("./http-version.ts");
      process.exitCode = await preferHttp2(connection, (best) => measureLoggers(best, prefix ?? "", options));
    });

  loggers
    .command("history")
    .description("show who changed which level, when and why, newest first")
    .argument("[name]", NAME)
    .option("-n, --limit <count>", "how many changes at most", countOf, 20)
    .addHelpText(
      "after",
      examples(
        ["loggers history", "the latest changes"],
        ["loggers history orders --limit 100", "more changes, of one logger"],
      ),
    )
    .action(async (name: string | undefined, _, command: Command) => {
      const { connection, options } = await invocationOf<{ limit: number }>(command);
      const { listChanges } = await import("./loggers-show.ts");
      await listChanges(connection, name, options);
    });
}

function addTail(loggers: Command): void {
  loggers
    .command("tail")
    .description("show what loggers write until Ctrl-C, and raise their level meanwhile")
    .argument("[names...]", "loggers, groups, or `orders.*` for all below orders; by default all")
    .addOption(new Option("--level <level>", "records of this level and of more severe ones").argParser(levelOf))
    .addOption(new Option("--raise <level>", "set this level until the command ends").argParser(levelOf))
    .option("--only-here", "with --raise: the application's own destinations do not get the added records")
    .addOption(new Option("--for <duration>", "end after this time, such as 10m").argParser(upToOneDay))
    .option("--reason <text>", "with --raise: why, for the history")
    .option("--grep <text>", "records with this text in message, fields or error, in any case")
    .addOption(fieldOption())
    .addOption(new Option("--recent <count>", "so many earlier records first, if they are kept").argParser(countOf))
    .addOption(new Option("--max-rate <count>", "how many records a second at most").argParser(countOf))
    .option("--with <address...>", "of other instances, too")
    .option("--pretty", "as text, even if the output is no terminal")
    .addHelpText(
      "after",
      examples(
        ["loggers tail", "all that is written"],
        ["loggers tail orders.payment --raise debug --grep card", "raised until Ctrl-C"],
        ["loggers tail 'orders.*' --raise debug --only-here --for 10m", "not written to the log file"],
        ["loggers tail --level warn --field order.id=4711 --json", "one line of JSON for each record"],
        ["loggers tail --name shop", "all processes with this name"],
      ) + TAILED,
    )
    .action(async (names: string[], _, command: Command) => {
      checkTail(command.optsWithGlobals());
      const { instances, options } = await instancesOf<TailOptions>(command);
      const { tailLoggers } = await import("./loggers-tail.ts");
      process.exitCode = await tailLoggers(instances, names, options);
    });
}

function addChanging(loggers: Command): void {
  const reason = () => new Option("--reason <text>", "why, for the history");
  const ifRevision = () =>
    new Option("--if-revision <revision>", "only while the levels are as `loggers list --json` showed them").argParser(
      revisionOf,
    );

  loggers
    .command("set")
    .description("set a level, for a time or permanently")
    .argument("<name>", NAME)
    .argument("<level>", `one of ${LEVEL_WORDS.join(", ")}`, levelOf)
    .addOption(new Option("--for <duration>", "how long it lasts, such as 90s, 10m, 2h or 1d").argParser(lifeOf))
    .addOption(new Option("--forever", "it lasts until it is changed, if the server allows that").conflicts("for"))
    .option("--hold", "it lasts as long as this command runs; Ctrl-C restores the level")
    .addOption(reason())
    .addOption(ifRevision())
    .addHelpText(
      "after",
      examples(
        ['loggers set orders.payment debug --for 10m --reason "ticket 812"', "then as it was before"],
        ["loggers set orders warn --forever", "until it is changed"],
        ["loggers set orders debug --hold", "until Ctrl-C"],
      ),
    )
    .addHelpText(
      "after",
      "\nWithout --for and --forever, the server decides. By default, debug and trace last\n10 minutes, and other levels last until they are changed.",
    )
    .action(async (name: string, level: Level, _, command: Command) => {
      const { connection, options } = await invocationOf<{ hold?: boolean }>(command);
      if (options.hold) {
        const { holdLevel } = await import("./loggers-hold.ts");
        const { preferHttp2 } = await import("./http-version.ts");
        process.exitCode = await preferHttp2(connection, (best) => holdLevel(best, name, level, options));
        return;
      }
      const { setLevel } = await import("./loggers-change.ts");
      await setLevel(connection, name, level, options);
    });

  loggers
    .command("clear")
    .description("remove the level, so that it is inherited again")
    .argument("<name>", NAME)
    .addOption(reason())
    .addOption(ifRevision())
    .addHelpText("after", examples(["loggers clear orders.payment", "inherits from orders again"]))
    .action(async (name: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { clearLevel } = await import("./loggers-change.ts");
      await clearLevel(connection, name, options);
    });

  loggers
    .command("restore")
    .description("go back to the level that the application configured")
    .argument("[name]", NAME)
    .option("--all", "every logger")
    .addOption(reason())
    .addHelpText(
      "after",
      examples(["loggers restore orders", "one"], ["loggers restore --all", "every logger whose level was changed"]),
    )
    .action(async (name: string | undefined, { all }: { all?: boolean }, command: Command) => {
      if ((name === undefined) !== (all === true)) {
        throw new CliError(EXIT.usage, "restore takes either the name of a logger or --all");
      }
      const { connection, options } = await invocationOf(command);
      const { restoreAllLevels, restoreLevel } = await import("./loggers-change.ts");
      await (name === undefined ? restoreAllLevels(connection, options) : restoreLevel(connection, name, options));
    });
}

/** Reads a level as it is typed. */
export function levelOf(word: string): Level {
  const level = levelFromText(word);
  if (level === undefined) throw new InvalidArgumentError(`Use one of ${LEVEL_WORDS.join(", ")}.`);
  return level;
}

/** `--field` of a tail. */
export function fieldOption(): Option {
  return new Option("--field <key=value>", "records with this field; may be repeated").argParser(fieldOf);
}

/** @throws CliError if options of a tail do not go together */
export function checkTail({ json, pretty, raise, onlyHere, reason }: Omit<TailOptions, "timeout">): void {
  if (raise === undefined && onlyHere) throw new CliError(EXIT.usage, "--only-here goes with --raise");
  if (raise === undefined && reason !== undefined) throw new CliError(EXIT.usage, "--reason goes with --raise");
  if (json && pretty) throw new CliError(EXIT.usage, "--json and --pretty exclude each other: give one of them");
}

function fieldOf(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError("Give a field such as order.id=4711.");
  return { ...before, [key]: value };
}

/** Reads how long a level lasts, in milliseconds. */
export function lifeOf(text: string): number {
  const life = durationOf(text);
  if (life === 0) throw new InvalidArgumentError("Give a duration from 1ms; --forever has no end.");
  return life;
}

function revisionOf(text: string): bigint {
  if (/^[1-9]\d{0,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the revision that `loggers list --json` shows.");
}
