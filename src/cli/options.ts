import { type Command, InvalidArgumentError, Option } from "commander";
import { durationFromText } from "../common/duration.ts";
import { type Place, placeFromText } from "../processes/socket-name.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";

/** The options that every command takes. */
export interface GlobalOptions extends ConnectionOptions {
  readonly json?: boolean;
}

/** The same as they were given, before it is known which actuator they mean. */
export interface GivenOptions extends Omit<GlobalOptions, "url"> {
  readonly url?: string;
  readonly pid?: Place;
  readonly name?: string;
}

const ONE_DAY_MS = 86_400_000;

/** Adds the options that every command takes, accepted before and after the name of the command. */
export function addGlobalOptions(program: Command): void {
  program
    .addOption(
      new Option("--url <url>", "address of an actuator, such as http://127.0.0.1:9001 or unix:<path>").env(
        "ACTUATOR_URL",
      ),
    )
    .addOption(new Option("--pid <pid>", "the process with this id, as `ps` lists it").argParser(placeFrom))
    .option("--name <name>", "the process with this name, as `ps` lists it")
    .addOption(
      new Option("--token <token>", "sent as Authorization: Bearer; safer in the environment").env("ACTUATOR_TOKEN"),
    )
    .addOption(new Option("--ca <file>", "authority that signed the server's certificate").env("ACTUATOR_CA"))
    .addOption(new Option("--cert <file>", "client certificate, with --key").env("ACTUATOR_CERT"))
    .addOption(new Option("--key <file>", "key of the client certificate").env("ACTUATOR_KEY"))
    .option("--json", "print the answer as JSON")
    .addOption(
      new Option("--timeout <duration>", "how long to wait for an answer").argParser(upToOneDay).default(10_000, "10s"),
    );
}

/** Reads a duration such as `10m` as milliseconds. */
export function durationOf(text: string): number {
  const duration = durationFromText(text);
  if (duration === undefined) throw new InvalidArgumentError("Give a duration such as 90s, 10m, 2h, 1d or 1h30m.");
  return duration;
}

/** Reads a count: a whole number from 1. */
export function countOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 1.");
}

/** Reads a process, or a thread of it, as `ps` lists it. */
export function placeFrom(text: string): Place {
  const place = placeFromText(text);
  if (place === undefined)
    throw new InvalidArgumentError("Give a process such as 4711, or a thread of it such as 4711-2.");
  return place;
}

/** Reads a duration that a timer can wait for. */
export function upToOneDay(text: string): number {
  const duration = durationOf(text);
  if (duration >= 1 && duration <= ONE_DAY_MS) return duration;
  throw new InvalidArgumentError("Give a duration from 1ms to 1d.");
}

/** Formats the examples at the end of a help text, each below what it does. */
export function examples(...lines: readonly (readonly [words: string, what: string])[]): string {
  return ["", "Examples:", ...lines.map(([words, what]) => `  # ${what}\n  connect-actuator ${words}`)].join("\n");
}

/** The options of a command that was run, and the connection to the actuator that they name. */
export interface Invocation<Options> {
  readonly connection: Connection;
  readonly options: GlobalOptions & Options;
}

/** Reads the options of a command. RPC is loaded here, so that help, completion and usage errors do not wait for it. */
export async function invocationOf<Options = unknown>(command: Command): Promise<Invocation<Options>> {
  const given = command.optsWithGlobals<GivenOptions & Options>();
  const options = { ...given, url: await urlOf(given, command.getOptionValueSourceWithGlobals("url") === "env") };
  // For the message of a call that fails.
  programOf(command).setOptionValue("url", options.url);
  const { connect } = await import("./connection.ts");
  return { connection: connect(options), options };
}

/** Connects to the actuator that the options of a command name, which is looked for each time. */
export interface Connecting {
  (): Promise<Connection>;
  /** How the last connection was made. */
  readonly last: ConnectionOptions | undefined;
}

/** Makes what connects for a command that calls again and again. */
export function connecting(command: Command): Connecting {
  const given = command.optsWithGlobals<GivenOptions>();
  const isFromEnvironment = command.getOptionValueSourceWithGlobals("url") === "env";
  let last: ConnectionOptions | undefined;
  const connect = async () => {
    last = { ...given, url: await urlOf(given, isFromEnvironment) };
    return (await import("./connection.ts")).connect(last);
  };
  return Object.defineProperty(connect, "last", { get: () => last }) as Connecting;
}

/** One of the actuators that a command calls. */
export interface Instance {
  /** How it is called in the output; undefined if there is only one. */
  readonly label: string | undefined;
  readonly connection: Connection;
  /** Whether it is a process of this machine that was found by its id or name. */
  readonly isProcess: boolean;
}

/** As {@link invocationOf}, for a command that calls all processes with the `--name`, and the addresses of `--with`. */
export async function instancesOf<Options>(
  command: Command,
): Promise<{ readonly instances: readonly Instance[]; readonly options: GlobalOptions & Options }> {
  const given = command.optsWithGlobals<GivenOptions & Options & { with?: readonly string[] }>();
  const isUrlTyped = given.url !== undefined && command.getOptionValueSourceWithGlobals("url") !== "env";
  const { name, pid, timeout, with: others = [] } = given;
  const { baseUrlOf, connect } = await import("./connection.ts");
  let addresses: readonly { readonly label?: string; readonly url: string }[];
  if (name !== undefined && pid === undefined && !isUrlTyped) {
    const { addressesOf } = await import("./addressing.ts");
    addresses = await addressesOf(name, timeout);
  } else addresses = [{ url: await urlOf(given, !isUrlTyped) }];
  const all = [...addresses, ...others.map((url) => ({ url }))].map((each) => ({ ...each, url: baseUrlOf(each.url) }));
  const twice = all.find(({ url }, at) => all.findIndex((each) => each.url === url) !== at);
  if (twice !== undefined) throw new CliError(EXIT.usage, `${twice.url} is named twice`);
  const instances = all.map(({ label, url }: { readonly label?: string; readonly url: string }) => ({
    label: all.length === 1 ? undefined : (label ?? url.replace(/^https?:\/\//, "")),
    connection: connect({ ...given, url }),
    isProcess: url.startsWith("unix:") && url !== given.url && !others.includes(url),
  }));
  return { instances, options: { ...given, url: all[0]!.url } };
}

/** The address that is typed; or else of the process that is typed; or else that of the environment; or else of the only process. */
async function urlOf({ url, pid, name, timeout }: GivenOptions, isFromEnvironment: boolean): Promise<string> {
  const typed = [isFromEnvironment ? undefined : url, pid, name].filter((each) => each !== undefined);
  if (typed.length > 1) throw new CliError(EXIT.usage, "--url, --pid and --name exclude each other: give one of them");
  // A variable of the environment may be set to the empty string.
  if (url !== undefined && pid === undefined && name === undefined && !(isFromEnvironment && url === "")) return url;
  const { addressOf } = await import("./addressing.ts");
  return addressOf({ pid, name }, timeout);
}

function programOf(command: Command): Command {
  return command.parent === null ? command : programOf(command.parent);
}
