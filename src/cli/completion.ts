import type { Command } from "commander";
import { type Candidate, complete, type LoggerNames } from "./complete.ts";
import { print } from "./output.ts";

/** How long a shell waits for names before it goes without; somebody has just pressed a key. */
const PATIENCE_MS = 700;
/** More names than anybody reads. */
const MOST_NAMES = 1_000;

/** Prints what the last of the words may become, one a line, each with a tab and its description where it has one. */
export async function printCompletions(program: Command, words: readonly string[]): Promise<void> {
  const candidates = await complete(program, words, loggerNames);
  if (candidates.length > 0) print(candidates.map(lineOf).join("\n"));
}

function lineOf({ value, description }: Candidate): string {
  return description === undefined || description === "" ? value : `${value}\t${description}`;
}

/** Silent about every failure: whatever went wrong, the command itself will say it. */
const loggerNames: LoggerNames = async (prefix, values) => {
  try {
    const { connect } = await import("./connection.ts");
    const { LoggersService } = await import("../gen/actuator/v3/loggers_pb.ts");
    const url = values.url ?? (process.env.ACTUATOR_URL || "http://127.0.0.1:9001");
    const token = values.token ?? process.env.ACTUATOR_TOKEN;
    const file = (name: "ca" | "cert" | "key") => values[name] ?? process.env[`ACTUATOR_${name.toUpperCase()}`];
    const given = Object.entries({ token, ca: file("ca"), cert: file("cert"), key: file("key") });
    const options = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const client = connect({ url, timeout: PATIENCE_MS, ...options })(LoggersService);
    const { loggers, groups } = await client.listLoggers({ namePrefix: prefix, pageSize: MOST_NAMES });
    return [...groups, ...loggers].map(({ name }) => name);
  } catch {
    return [];
  }
};
