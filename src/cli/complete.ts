import type { Argument, Command, Option } from "commander";
import { LEVEL_WORDS } from "./level-text.ts";

/** What a word may become, and what that does. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Names of loggers and groups that begin with this, asked of the server that the words before name; none where it is silent. */
export type LoggerNames = (prefix: string, words: Readonly<Record<string, string>>) => Promise<readonly string[]>;

/** What an option or argument may be, where its definition does not say it by itself. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  level: LEVEL_WORDS,
  for: ["5m", "10m", "30m", "1h", "2h", "1d"],
  interval: ["1s", "5s", "10s", "1m"],
  timeout: ["1s", "5s", "10s", "30s"],
};
const LOGGERS = new Set(["name", "filters"]);

/** Names that mean the same in every shell, without quotes. Others are not offered: they may be code to a shell. */
const PLAIN = /^[\p{L}\p{N}_@][\p{L}\p{N}_@.:/+-]*$/u;

/** What the last of the words may become, after the words before it. */
export async function complete(
  program: Command,
  words: readonly string[],
  loggerNames: LoggerNames,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? "";
  const place = placeOf(program, words.slice(0, -1));
  const offered = await candidatesAt(place, current, (prefix) => loggerNames(prefix, place.values));
  return offered.filter(({ value }) => value.startsWith(current));
}

interface Place {
  readonly command: Command;
  readonly operands: number;
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  readonly onlyOperands: boolean;
  /** The values that options got, by their names. */
  readonly values: Readonly<Record<string, string>>;
}

function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let operands = 0;
  let pending: Option | undefined;
  let onlyOperands = false;
  const values: Record<string, string> = {};
  for (const word of words) {
    if (pending !== undefined) {
      values[pending.attributeName()] = word;
      pending = undefined;
    } else if (onlyOperands || !/^-./.test(word)) {
      const next = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (next === undefined) operands++;
      else command = next;
    } else if (word === "--") {
      onlyOperands = true;
    } else {
      const [flag, value] = word.split(/=(.*)/s, 2);
      const option = optionsOf(command).find((each) => each.long === flag || each.short === flag);
      if (option?.required && value === undefined) pending = option;
      else if (option !== undefined && value !== undefined) values[option.attributeName()] = value;
    }
  }
  return { command, operands, pending, onlyOperands, values };
}

type Names = (prefix: string) => Promise<readonly string[]>;

async function candidatesAt(place: Place, current: string, names: Names): Promise<Candidate[]> {
  const { command, operands, pending, onlyOperands } = place;
  if (pending !== undefined) return plain(valuesOf(pending, pending.attributeName()));
  if (!onlyOperands && current.startsWith("-")) {
    const [flag, value] = current.split("=", 2);
    const option = optionsOf(command).find((each) => each.long === flag);
    if (value !== undefined) return option ? plain(valuesOf(option, option.attributeName()), `${flag}=`) : [];
    return optionsOf(command).map((each) => ({ value: each.long ?? each.short!, description: each.description }));
  }
  if (operands === 0 && command.commands.length > 0) {
    return command.commands.map((each) => ({ value: each.name(), description: each.description() }));
  }
  const argument =
    command.registeredArguments[operands] ?? command.registeredArguments.findLast((each) => each.variadic);
  if (argument === undefined) return [];
  if (!LOGGERS.has(argument.name())) return plain(valuesOf(argument, argument.name()));
  return plain((await names(current)).filter((name) => PLAIN.test(name)));
}

/** The options of a command and those that every command takes. */
function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.filter((option, at) => options.findIndex(({ long }) => long === option.long) === at);
}

function valuesOf(definition: Option | Argument, name: string): readonly string[] {
  return definition.argChoices ?? VALUES[name] ?? [];
}

function plain(values: readonly string[], before = ""): Candidate[] {
  return values.map((value) => ({ value: `${before}${value}` }));
}
