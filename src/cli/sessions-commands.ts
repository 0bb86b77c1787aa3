import { createInterface } from "node:readline";
import type { Command } from "commander";
import { CliError } from "./cli-error.ts";
import { examples } from "./examples.ts";
import { EXIT } from "./exit-code.ts";
import { invocationOf } from "./invocation.ts";

const ID = "the id of the session; - reads it from standard input";
const CREDENTIAL =
  "\nAn id is a credential: on a command line others on this machine may see it. One that begins with - goes after --.";

/** Adds `sessions` and what can be done with them. */
export function addSessionsCommands(program: Command): void {
  const sessions = program.command("sessions").description("see and end HTTP sessions");

  sessions
    .command("list")
    .description("show the sessions of one user")
    .argument("<username>", "whose sessions, exactly as the application names them")
    .addHelpText("after", examples(["sessions list alice", "where Alice is logged in"]))
    .action(async (username: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { listSessions } = await import("./sessions.ts");
      await listSessions(connection, username, options);
    });

  sessions
    .command("get")
    .description("show one session, without the values in it")
    .argument("<id>", ID)
    .addHelpText("after", examples(["sessions get -", "of the id that is typed or piped in"]) + CREDENTIAL)
    .action(async (id: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { getSession } = await import("./sessions.ts");
      await getSession(connection, await idOf(id), options);
    });

  sessions
    .command("delete")
    .description("end one session: whoever has it is logged out")
    .argument("<id>", ID)
    .addHelpText("after", examples(["sessions delete -", "ends that of the id typed or piped in"]) + CREDENTIAL)
    .action(async (id: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { deleteSession } = await import("./sessions.ts");
      await deleteSession(connection, await idOf(id), options);
    });
}

async function idOf(argument: string): Promise<string> {
  if (argument !== "-") return argument;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== "") return line.trim();
  }
  throw new CliError(EXIT.usage, "standard input has no id of a session");
}
