import { type Command, InvalidArgumentError, Option } from "commander";
import type { Level } from "../loggers/level.ts";
import { CliError, EXIT } from "./error.ts";
import { addFleetPrepareCommand } from "./fleet-prepare.ts";
import type { FleetTailOptions } from "./fleet-tail.ts";
import { formatOf, GRAPH_FORMATS, intervalOption, watchOption } from "./graph.ts";
import type { GraphOptions } from "./graph-show.ts";
import { checkTail, fieldOption, LEVEL_WORDS, levelOf, lifeOf } from "./loggers.ts";
import { countOf, examples, invocationOf, upToOneDay } from "./options.ts";

const NAME = "a logger or a group";

const SAID = `

Exit code 0: every instance that is there applied it. Those that are GONE are named, and apply
it when they are back. 1: an instance FAILED, was OVERRULED, or has not said yet.`;

const FOLLOWED = `

Waits up to 15 seconds for the status of every instance. Later instances get the change, too.${SAID}`;

const ASKED = `

The actuator that is called asks the others at the addresses that they gave, at most 200.`;

const UNREAD = `
Exit code 1: an instance did not answer; it is named with the reason.`;

const ASKED_AGAIN = `
An instance that does not answer is named with the reason, and asked again.`;

const DECIDED = `

Exit code 0: it was promoted; 1: it was taken back.`;

/** Adds `fleet` with its commands. */
export function addFleetCommands(program: Command): void {
  const fleet = program.command("fleet").description("see the instances of a fleet, and set levels on all of them");
  addReading(fleet);
  addAsking(fleet);
  addChanging(fleet);
  addFleetPrepareCommand(fleet);
}

function addReading(fleet: Command): void {
  fleet
    .command("list")
    .description("show the instances")
    .addOption(on("those"))
    .addHelpText("after", examples(["fleet list", "all"], ["fleet list --on zone=eu", "those with this label"]))
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<{ on?: string }>(command);
      const { listInstances } = await import("./fleet-show.ts");
      await listInstances(connection, options);
    });

  fleet
    .command("levels")
    .description("show the levels that the fleet has")
    .addHelpText("after", examples(["fleet levels", "with who set them, why and until when"]))
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { listFleetLevels } = await import("./fleet-show.ts");
      await listFleetLevels(connection, options);
    });

  fleet
    .command("status")
    .description("show how far a change has come, instance by instance")
    .argument("<generation>", "as `fleet set` and `fleet levels` show it", generationOf)
    .addHelpText(
      "after",
      examples(["fleet status 1795450000000000", "APPLIED, APPLYING, FAILED, OVERRULED or GONE"]) + SAID,
    )
    .action(async (generation: bigint, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { showChange } = await import("./fleet-show.ts");
      process.exitCode = await showChange(connection, generation, options);
    });
}

function addAsking(fleet: Command): void {
  fleet
    .command("differences")
    .description("show the loggers whose level is not the same on all instances")
    .addOption(on("those"))
    .addHelpText("after", examples(["fleet differences", "with the instances that have each level"]) + ASKED + UNREAD)
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<{ on?: string }>(command);
      const { showDifferences } = await import("./fleet-ask.ts");
      process.exitCode = await showDifferences(connection, options);
    });

  fleet
    .command("graph")
    .description("show the integration graphs of all instances as one")
    .addOption(on("those"))
    .addOption(new Option("--format <format>", "how to show it").choices(GRAPH_FORMATS).default("text"))
    .option("-o, --output <file>", "write it to a file")
    .addOption(watchOption().conflicts("output"))
    .addOption(intervalOption())
    .addHelpText(
      "after",
      examples(["fleet graph", "counts and rates are added"], ["fleet graph --watch", "and then every change"]) +
        ASKED +
        `${UNREAD}\nWith --watch it is asked again.`,
    )
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf<GraphOptions & { on?: string }>(command);
      const format = formatOf(options);
      const { showFleetGraph, watchFleetGraph } = await import("./fleet-ask.ts");
      if (!options.watch) process.exitCode = await showFleetGraph(connection, { ...options, format });
      else await watchFleetGraph(connection, { ...options, json: format === "json" });
    });

  fleet
    .command("tail")
    .description("show what loggers write on all instances until Ctrl-C, and raise their level meanwhile")
    .argument("[names...]", "loggers, groups, or `orders.*` for all below orders; by default all")
    .addOption(on("those"))
    .addOption(new Option("--level <level>", "records of this level and of more severe ones").argParser(levelOf))
    .addOption(new Option("--raise <level>", "set this level on all of them until the command ends").argParser(levelOf))
    .addOption(new Option("--for <duration>", "end after this time, such as 10m").argParser(upToOneDay))
    .addOption(reason())
    .option("--grep <text>", "records with this text in message, fields or error, in any case")
    .addOption(fieldOption())
    .option("--pretty", "as text, even if the output is no terminal")
    .addHelpText(
      "after",
      examples(
        ["fleet tail orders --raise debug --for 10m", "raised on all instances until then"],
        ["fleet tail --level warn --on zone=eu --json", "one line of JSON for each record, with its instance"],
      ) +
        ASKED +
        ASKED_AGAIN,
    )
    .action(async (names: string[], _, command: Command) => {
      checkTail(command.optsWithGlobals());
      const { connection, options } = await invocationOf<FleetTailOptions>(command);
      const { tailFleet } = await import("./fleet-tail.ts");
      const { preferHttp2 } = await import("./http-version.ts");
      process.exitCode = await preferHttp2(connection, (best) => tailFleet(best, names, options));
    });
}

function addChanging(fleet: Command): void {
  fleet
    .command("set")
    .description("set a level on all instances, and on those that start later")
    .argument("<name>", NAME)
    .argument("<level>", `one of ${LEVEL_WORDS.join(", ")}`, levelOf)
    .addOption(new Option("--for <duration>", "how long it lasts, such as 90s, 10m, 2h or 1d").argParser(lifeOf))
    .addOption(new Option("--forever", "it lasts until it is changed, if the server allows that").conflicts("for"))
    .addOption(on("only those"))
    .addOption(reason())
    .addOption(ifGeneration())
    .addHelpText(
      "after",
      examples(
        ['fleet set orders.payment debug --for 10m --reason "ticket 812"', "then as each instance was before"],
        ["fleet set orders debug --on zone=eu,canary", "only on instances with both labels"],
        ["fleet set orders warn --on instance=host1:12+host2:7", "only on these two"],
      ) + FOLLOWED,
    )
    .action(async (name: string, level: Level, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { setFleetLevel } = await import("./fleet-change.ts");
      process.exitCode = await setFleetLevel(connection, name, level, options);
    });

  fleet
    .command("canary")
    .description("set a level on a few instances first, then on all or back")
    .argument("<name>", NAME)
    .argument("<level>", `one of ${LEVEL_WORDS.join(", ")}`, levelOf)
    .addOption(new Option("--instances <count>", "how many get it first").argParser(countOf).default(1))
    .addOption(
      new Option("--promote-after <duration>", "set it on all after this time, if they applied it").argParser(
        upToOneDay,
      ),
    )
    .addOption(new Option("--for <duration>", "how long it lasts then, such as 90s, 10m, 2h or 1d").argParser(lifeOf))
    .addOption(new Option("--forever", "it lasts until it is changed, if the server allows that").conflicts("for"))
    .addOption(on("only those"))
    .addOption(reason())
    .addHelpText(
      "after",
      examples(
        ["fleet canary orders debug --instances 2", "until `fleet promote`, `fleet back` or Ctrl-C"],
        ["fleet canary orders warn --promote-after 1m", "on one, and after a minute on all"],
      ) + DECIDED,
    )
    .action(async (name: string, level: Level, _, command: Command) => {
      const { connection, options } = await invocationOf<{ instances: number }>(command);
      const { runCanary } = await import("./fleet-canary.ts");
      const { preferHttp2 } = await import("./http-version.ts");
      process.exitCode = await preferHttp2(connection, (best) => runCanary(best, name, level, options));
    });

  for (const [word, promote, what] of [
    ["promote", true, "set the level of a canary on all instances"],
    ["back", false, "take a canary back"],
  ] as const) {
    fleet
      .command(word)
      .description(what)
      .argument("<id>", "as `fleet canary` and `fleet levels` show it")
      .addOption(reason())
      .addHelpText(
        "after",
        examples([`fleet ${word} 3fd1c0de-8f3c-4a53-9d5e-0a1b2c3d4e5f`, "from any terminal"]) + FOLLOWED,
      )
      .action(async (id: string, _, command: Command) => {
        const { connection, options } = await invocationOf(command);
        const { finishCanary } = await import("./fleet-canary.ts");
        process.exitCode = await finishCanary(connection, id, promote, options);
      });
  }

  for (const [word, what, words, why] of [
    [
      "clear",
      "end the fleet's level: what each instance had before comes back",
      "fleet clear orders",
      "on all instances, whatever --on it was set with",
    ],
    [
      "restore",
      "go back to the levels that the applications configured",
      "fleet restore orders",
      "ends what was set before on single instances, too",
    ],
  ] as const) {
    fleet
      .command(word)
      .description(what)
      .argument("<name>", NAME)
      .addOption(on("only those"))
      .addOption(reason())
      .addOption(ifGeneration())
      .addHelpText("after", examples([words, why]) + FOLLOWED)
      .action(async (name: string, _, command: Command) => {
        const { connection, options } = await invocationOf(command);
        const { endFleetLevel } = await import("./fleet-change.ts");
        process.exitCode = await endFleetLevel(connection, word, name, options);
      });
  }

  fleet
    .command("reset")
    .description("end all levels of the fleet")
    .addOption(reason())
    .option("-y, --yes", "do not ask on a terminal")
    .addHelpText("after", examples(["fleet reset", "each instance returns to what it has of its own"]))
    .action(async (_, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { resetFleet } = await import("./fleet-change.ts");
      process.exitCode = await resetFleet(connection, options);
    });
}

function on(which: string): Option {
  const what = `${which} with these labels, such as zone=eu,canary; default: all`;
  return new Option("--on <selector>", what).argParser(selectorOf);
}

/** An empty selector means all instances, which an empty variable of a script does not. */
function selectorOf(text: string): string {
  if (text.trim() !== "") return text;
  throw new CliError(EXIT.usage, "--on is empty; leave it out for all instances");
}

function reason(): Option {
  return new Option("--reason <text>", "why, for the history");
}

function ifGeneration(): Option {
  const what = "only if this is still the fleet's generation, as `fleet levels --json` shows it";
  return new Option("--if-generation <generation>", what).argParser(generationOf);
}

function generationOf(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the generation that `fleet levels --json` shows.");
}
