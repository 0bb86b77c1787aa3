import { type Command, Option } from "commander";
import { CliError, EXIT } from "./error.ts";
import { lineOfInput } from "./input.ts";
import { countOf, examples, invocationOf } from "./options.ts";
import { addPrepareCommand } from "./sessions-prepare.ts";

const ID = "the id of the session; - reads it from standard input";
const CREDENTIAL = `

An id may be a credential, and other users of this machine may see it on a
command line. An id that begins with - goes after --.`;

/** Adds `sessions` with its commands. */
export function addSessionsCommands(program: Command): void {
  const sessions = program.command("sessions").description("see and end HTTP sessions");

  sessions
    .command("list")
    .description("show the sessions of one user, or of all users")
    .argument("[username]", "the user, exactly as the application names them")
    .addOption(new Option("--active", "only those that have not expired").conflicts("expired"))
    .option("--expired", "only those that have expired and are still stored")
    .option("-n, --limit <count>", "how many sessions at most", countOf)
    .addHelpText(
      "after",
      examples(
        ["sessions list alice", "where Alice is logged in"],
        ["sessions list --active --limit 20", "the latest of all users, if the store can sort them"],
      ),
    )
    .action(async (username: string | undefined, _, command: Command) => {
      if (username === "") {
        throw new CliError(EXIT.usage, "a username cannot be empty: leave it out for all sessions");
      }
      const { connection, options } = await invocationOf<{ limit?: number }>(command);
      const { listSessions } = await import("./sessions-show.ts");
      await listSessions(connection, username, options);
    });

  sessions
    .command("get")
    .description("show one session, without the values of its attributes")
    .argument("<id>", ID)
    .addHelpText("after", examples(["sessions get -", "reads the id from standard input"]) + CREDENTIAL)
    .action(async (id: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { getSession } = await import("./sessions-show.ts");
      await getSession(connection, await idOf(id), options);
    });

  sessions
    .command("delete")
    .description("end one session or all sessions of a user, which logs the user out")
    .argument("[id]", ID)
    .option("--user <username>", "all sessions of this user instead")
    .option("--except <id>", "except this one; - reads it from standard input")
    .option("-y, --yes", "do not ask on a terminal")
    .addHelpText(
      "after",
      examples(
        ["sessions delete -", "reads the id from standard input"],
        ["sessions delete --user alice", "ends all of Alice's sessions"],
        ["sessions delete --user alice --except -", "all but the one whose id is on standard input"],
      ) + CREDENTIAL,
    )
    .action(async (id: string | undefined, _, command: Command) => {
      const { user, except } = command.opts<{ user?: string; except?: string }>();
      if ((id === undefined) === (user === undefined)) {
        throw new CliError(EXIT.usage, "delete takes either the id of a session or --user");
      }
      if (user === undefined && except !== undefined) throw new CliError(EXIT.usage, "--except goes with --user");
      if (user === "" || except === "") throw new CliError(EXIT.usage, "--user and --except cannot be empty");
      const { connection, options } = await invocationOf<{ yes?: boolean }>(command);
      const { deleteSession, deleteUserSessions } = await import("./sessions-delete.ts");
      if (user === undefined) {
        process.exitCode = await deleteSession(connection, await idOf(id!), options);
        return;
      }
      const exceptId = except && (await idOf(except));
      process.exitCode = await deleteUserSessions(connection, user, exceptId, options);
    });

  addPrepareCommand(sessions);
}

async function idOf(argument: string): Promise<string> {
  return argument === "-" ? lineOfInput("id of a session") : argument;
}
