import { type Command, InvalidArgumentError, Option } from "commander";
import { durationFromText } from "../common/duration.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";

/** The options that every command takes. */
export interface GlobalOptions extends ConnectionOptions {
  readonly json?: boolean;
}

const MAX_TIMEOUT_MS = 86_400_000;

/** Adds the options that every command takes, accepted before and after the name of the command. */
export function addGlobalOptions(program: Command): void {
  program
    .addOption(
      new Option("--url <url>", "address of the actuator, or unix:<path of its socket>")
        .env("ACTUATOR_URL")
        .default("http://127.0.0.1:9001"),
    )
    .addOption(
      new Option("--token <token>", "sent as Authorization: Bearer; safer in the environment").env("ACTUATOR_TOKEN"),
    )
    .addOption(new Option("--ca <file>", "authority that signed the server's certificate").env("ACTUATOR_CA"))
    .addOption(new Option("--cert <file>", "client certificate, with --key").env("ACTUATOR_CERT"))
    .addOption(new Option("--key <file>", "key of the client certificate").env("ACTUATOR_KEY"))
    .option("--json", "print the answer as JSON")
    .addOption(
      new Option("--timeout <duration>", "how long to wait for an answer").argParser(timeoutOf).default(10_000, "10s"),
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

function timeoutOf(text: string): number {
  const timeout = durationOf(text);
  if (timeout >= 1 && timeout <= MAX_TIMEOUT_MS) return timeout;
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
  const options = command.optsWithGlobals<GlobalOptions & Options>();
  const { connect } = await import("./connection.ts");
  return { connection: connect(options), options };
}
