import { type Command, InvalidArgumentError, Option } from "commander";
import { LEVELS, type Level, levelFromText } from "../loggers/level.ts";
import { CliError, EXIT } from "./error.ts";
import { countOf, durationOf, examples, invocationOf } from "./options.ts";

const NAME = "a logger or a group";
const FILTERS = "beginnings of names, or patterns: * is anything but a dot, ** anything, ? one character";

const MEASURED = `
Columns are calls a second: those of each level, whether it is enabled or not; WRITTEN
are those that the levels let through now; +DEBUG and +TRACE are the lines that the
level would add. Ctrl-C ends it, and shows what was counted.`;

/** The levels as they are typed. */
export const LEVEL_WORDS: readonly string[] = LEVELS.map((level) => level.toLowerCase());

/** Adds `loggers` with its commands. */
export function addLoggersCommands(program: Command): void {
  const loggers = program.command("loggers").description("see and change levels of loggers and groups");
  addReading(loggers);
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

function levelOf(word: string): Level {
  const level = levelFromText(word);
  if (level === undefined) throw new InvalidArgumentError(`Use one of ${LEVEL_WORDS.join(", ")}.`);
  return level;
}

function lifeOf(text: string): number {
  const life = durationOf(text);
  if (life === 0) throw new InvalidArgumentError("Give a duration from 1ms; --forever has no end.");
  return life;
}

function revisionOf(text: string): bigint {
  if (/^[1-9]\d{0,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the revision that `loggers list --json` shows.");
}
