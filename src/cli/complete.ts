import type { Argument, Command, Option } from "commander";
import { placeFromText, placeText } from "../processes/socket-name.ts";
import { LEVEL_WORDS } from "./loggers.ts";
import { print } from "./output.ts";

/** A completion of a word, with its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Finds names that exist now. None on failure. */
export interface LiveNames {
  /** The names of loggers and groups that begin with `prefix`; `options` are those on the command line. */
  loggers(prefix: string, options: Readonly<Record<string, string>>): Promise<readonly string[]>;
  /** The ids or the names of processes. */
  processes(by: "pid" | "name"): Promise<readonly string[]>;
}

/** The values of options and arguments that commander does not know. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  level: LEVEL_WORDS,
  raise: LEVEL_WORDS,
  for: ["5m", "10m", "30m", "1h", "2h", "1d"],
  interval: ["1s", "5s", "10s", "1m"],
  timeout: ["1s", "5s", "10s", "30s"],
};
const LOGGERS = new Set(["name", "names", "prefix", "filters"]);

/** Names that need no quotes in any shell. Others are not offered, because a shell may run them as code. */
const PLAIN = /^[\p{L}\p{N}_@][\p{L}\p{N}_@.:/+-]*$/u;

/** Completes the last of the words of a command line. */
export async function complete(
  program: Command,
  words: readonly string[],
  live: LiveNames,
): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? "";
  const place = placeOf(program, words.slice(0, -1));
  const candidates = await candidatesAt(place, current, live);
  return candidates.filter(({ value }) => value.startsWith(current));
}

interface Place {
  readonly command: Command;
  readonly operands: number;
  /** The option whose value is the next word. */
  readonly pending: Option | undefined;
  readonly onlyOperands: boolean;
  /** The values of options so far, by their names. */
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

async function candidatesAt(place: Place, current: string, live: LiveNames): Promise<Candidate[]> {
  const { command, operands, pending, onlyOperands, values } = place;
  if (pending !== undefined) return plain(await valuesOfOption(command, pending, live));
  if (!onlyOperands && current.startsWith("-")) {
    const [flag, value] = current.split("=", 2);
    const option = optionsOf(command).find((each) => each.long === flag);
    if (value !== undefined) return option ? plain(await valuesOfOption(command, option, live), `${flag}=`) : [];
    return optionsOf(command).map((each) => ({ value: each.long ?? each.short!, description: each.description }));
  }
  if (operands === 0 && command.commands.length > 0) {
    return command.commands.map((each) => ({ value: each.name(), description: each.description() }));
  }
  const argument =
    command.registeredArguments[operands] ?? command.registeredArguments.findLast((each) => each.variadic);
  if (argument === undefined) return [];
  if (command.name() === "detach") return plain(await live.processes("pid"));
  if (!LOGGERS.has(argument.name())) return plain(valuesOf(argument, argument.name()));
  return plain((await live.loggers(current, values)).filter((name) => PLAIN.test(name)));
}

async function valuesOfOption(command: Command, option: Option, live: LiveNames): Promise<readonly string[]> {
  const name = option.attributeName();
  // Commands may have a --name of their own.
  const isOwn = command.parent !== null && command.options.includes(option);
  if ((name !== "pid" && name !== "name") || isOwn) return valuesOf(option, name);
  return (await live.processes(name)).filter((value) => PLAIN.test(value));
}

/** The options of a command and the global ones. */
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

/** How long to wait for names after TAB was pressed. */
const NAMES_TIMEOUT_MS = 700;
const MAX_NAMES = 1_000;

/** Prints the completions of the last of the words, one a line, each with a tab and its description if it has one. */
export async function printCompletions(program: Command, words: readonly string[]): Promise<void> {
  const candidates = await complete(program, words, { loggers: loggerNames, processes: processNames });
  if (candidates.length > 0) print(candidates.map(lineOf).join("\n"));
}

function lineOf({ value, description }: Candidate): string {
  return description === undefined || description === "" ? value : `${value}\t${description}`;
}

/** Ignores every failure: the command itself will report it. */
const loggerNames: LiveNames["loggers"] = async (prefix, values) => {
  try {
    const { connect } = await import("./connection.ts");
    const { LoggersService } = await import("../gen/actuator/v3/loggers_pb.ts");
    const url = await urlOf(values);
    const token = values.token ?? process.env.ACTUATOR_TOKEN;
    const file = (name: "ca" | "cert" | "key") => values[name] ?? process.env[`ACTUATOR_${name.toUpperCase()}`];
    const given = Object.entries({ token, ca: file("ca"), cert: file("cert"), key: file("key") });
    const options = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const client = connect({ url, timeout: NAMES_TIMEOUT_MS, ...options })(LoggersService);
    const { loggers, groups } = await client.listLoggers({ namePrefix: prefix, pageSize: MAX_NAMES });
    return [...groups, ...loggers].map(({ name }) => name);
  } catch {
    return [];
  }
};

async function urlOf({ url, pid, name }: Readonly<Record<string, string>>): Promise<string> {
  const isNamed = pid !== undefined || name !== undefined;
  const given = url ?? (isNamed ? undefined : process.env.ACTUATOR_URL);
  if (given) return given;
  const { addressOf } = await import("./addressing.ts");
  return addressOf({ pid: pid === undefined ? undefined : placeFromText(pid), name }, NAMES_TIMEOUT_MS);
}

const processNames: LiveNames["processes"] = async (by) => {
  try {
    const { listProcesses } = await import("../processes/process-list.ts");
    const { processes } = await listProcesses(NAMES_TIMEOUT_MS);
    if (by === "pid") return processes.map(placeText);
    return [...new Set(processes.flatMap(({ description }) => description?.name ?? []))];
  } catch {
    return [];
  }
};
