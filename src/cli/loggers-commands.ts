import { type Command, InvalidArgumentError, Option } from "commander";
import type { Level } from "../gen/actuator/v3/level_pb.ts";
import { CliError } from "./cli-error.ts";
import { examples } from "./examples.ts";
import { EXIT } from "./exit-code.ts";
import { durationOf } from "./global-options.ts";
import { invocationOf } from "./invocation.ts";
import { LEVEL_WORDS, levelFromWord } from "./level-text.ts";

const NAME = "a logger or a group";
const FILTERS = "beginnings of names, or patterns: * is anything but a dot, ** anything, ? one character";

/** Adds `loggers` and what can be done with them. */
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
        ["loggers list orders", "those whose name begins with orders"],
        ["loggers list 'orders.*'", "those right beneath orders"],
        ["loggers list '**.payment' --configured", "of the payments anywhere, those with a level of their own"],
      ),
    )
    .action(async (filters: string[], _, command: Command) => {
      const { connection, options } = await invocationOf<{ configured?: boolean }>(command);
      const { listLoggers } = await import("./logger-list.ts");
      await listLoggers(connection, filters, options);
    });

  loggers
    .command("get")
    .description("show all that is known of one")
    .argument("<name>", NAME)
    .addHelpText("after", examples(["loggers get orders.payment", "level, baseline, who set it, why and until when"]))
    .action(async (name: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { getLogger } = await import("./logger-get.ts");
      await getLogger(connection, name, options);
    });

  loggers
    .command("watch")
    .description("show loggers, and every change of them from then on, until Ctrl-C")
    .argument("[filters...]", FILTERS)
    .addHelpText(
      "after",
      examples(
        ["loggers watch", "all"],
        ["loggers watch orders --json", "a line of JSON for the snapshot and for each change"],
      ),
    )
    .action(async (filters: string[], _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { watchLoggers } = await import("./watch.ts");
      await watchLoggers(connection, filters, options);
    });

  loggers
    .command("history")
    .description("show who changed which level, when and why, newest first")
    .argument("[name]", NAME)
    .option("-n, --limit <count>", "how many changes at most", countOf, 20)
    .addHelpText(
      "after",
      examples(["loggers history", "the latest changes"], ["loggers history orders --limit 100", "more, of one"]),
    )
    .action(async (name: string | undefined, _, command: Command) => {
      const { connection, options } = await invocationOf<{ limit: number }>(command);
      const { listChanges } = await import("./level-history.ts");
      await listChanges(connection, name, options);
    });
}

function addChanging(loggers: Command): void {
  const reason = () => new Option("--reason <text>", "why, for whoever reads the history");
  const ifRevision = () =>
    new Option("--if-revision <revision>", "only while the levels are as `loggers list --json` showed them").argParser(
      revisionOf,
    );

  loggers
    .command("set")
    .description("set a level, for a time or for good")
    .argument("<name>", NAME)
    .argument("<level>", `one of ${LEVEL_WORDS.join(", ")}`, levelOf)
    .addOption(new Option("--for <duration>", "how long it lasts, such as 90s, 10m, 2h or 1d").argParser(lifeOf))
    .addOption(new Option("--forever", "it stays, where the server allows that").conflicts("for"))
    .option("--hold", "it lasts while this command runs: Ctrl-C, or whatever ends it, restores the level")
    .addOption(reason())
    .addOption(ifRevision())
    .addHelpText(
      "after",
      examples(
        ['loggers set orders.payment debug --for 10m --reason "ticket 812"', "then as it was before"],
        ["loggers set orders warn --forever", "until somebody changes it"],
        ["loggers set orders debug --hold", "until Ctrl-C"],
      ),
    )
    .addHelpText(
      "after",
      "\nWithout --for and --forever the server decides. Unless configured otherwise, debug\nand trace last 10 minutes, and the others stay.",
    )
    .action(async (name: string, level: Level, _, command: Command) => {
      const { connection, options } = await invocationOf<{ hold?: boolean }>(command);
      if (options.hold) {
        const { holdLevel } = await import("./hold.ts");
        process.exitCode = await holdLevel(connection, name, level, options);
        return;
      }
      const { setLevel } = await import("./logger-change.ts");
      await setLevel(connection, name, level, options);
    });

  loggers
    .command("clear")
    .description("take the level away: it inherits again")
    .argument("<name>", NAME)
    .addOption(reason())
    .addOption(ifRevision())
    .addHelpText("after", examples(["loggers clear orders.payment", "follows orders again"]))
    .action(async (name: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { clearLevel } = await import("./logger-change.ts");
      await clearLevel(connection, name, options);
    });

  loggers
    .command("restore")
    .description("go back to what the application itself configured")
    .argument("[name]", NAME)
    .option("--all", "every logger")
    .addOption(reason())
    .addHelpText(
      "after",
      examples(["loggers restore orders", "one"], ["loggers restore --all", "every level that somebody changed"]),
    )
    .action(async (name: string | undefined, { all }: { all?: boolean }, command: Command) => {
      if ((name === undefined) !== (all === true)) {
        throw new CliError(EXIT.usage, "restore takes either the name of a logger or --all");
      }
      const { connection, options } = await invocationOf(command);
      const { restoreAllLevels, restoreLevel } = await import("./logger-change.ts");
      await (name === undefined ? restoreAllLevels(connection, options) : restoreLevel(connection, name, options));
    });
}

function levelOf(word: string): Level {
  const level = levelFromWord(word);
  if (level === undefined) throw new InvalidArgumentError(`Use one of ${LEVEL_WORDS.join(", ")}.`);
  return level;
}

function lifeOf(text: string): number {
  const life = durationOf(text);
  if (life === 0) throw new InvalidArgumentError("A level lasts longer than that; --forever lets it stay.");
  return life;
}

function revisionOf(text: string): bigint {
  if (/^[1-9]\d{0,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the revision that `loggers list --json` shows.");
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 1.");
}
