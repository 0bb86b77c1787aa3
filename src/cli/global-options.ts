import { type Command, InvalidArgumentError, Option } from "commander";
import { durationFromText } from "../common/duration.ts";

/** What every command takes. */
export interface GlobalOptions {
  readonly url: string;
  readonly token?: string;
  /** Paths of PEM files: the authorities that the server is known by, and what the caller is known by. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: boolean;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The longest `--timeout`. */
const LONGEST_TIMEOUT_MS = 86_400_000;

/** Adds what every command takes, before and after the command's name alike. */
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

/** Reads the value of an option that is a duration, as milliseconds. */
export function durationOf(text: string): number {
  const duration = durationFromText(text);
  if (duration === undefined) throw new InvalidArgumentError("Give a duration such as 90s, 10m, 2h, 1d or 1h30m.");
  return duration;
}

function timeoutOf(text: string): number {
  const timeout = durationOf(text);
  if (timeout >= 1 && timeout <= LONGEST_TIMEOUT_MS) return timeout;
  throw new InvalidArgumentError("Give a duration from 1ms to 1d.");
}
