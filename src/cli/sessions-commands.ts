import { type Command, InvalidArgumentError, Option } from "commander";
import { CliError } from "./cli-error.ts";
import { examples } from "./examples.ts";
import { EXIT } from "./exit-code.ts";
import { lineOfInput } from "./input.ts";
import { invocationOf } from "./invocation.ts";
import { addPrepareCommand } from "./sessions-prepare-command.ts";

const ID = "the id of the session; - reads it from standard input";
const CREDENTIAL = `
An id may be a credential, and on a command line others on this machine may see
it. One that begins with - goes after --.`;

/** Adds `sessions` and what can be done with them. */
export function addSessionsCommands(program: Command): void {
  const sessions = program.command("sessions").description("see and end HTTP sessions");

  sessions
    .command("list")
    .description("show the sessions of one user, or of everybody")
    .argument("[username]", "whose sessions, exactly as the application names them")
    .addOption(new Option("--active", "only those that have not expired").conflicts("expired"))
    .option("--expired", "only those that have expired and are still kept")
    .option("-n, --limit <count>", "how many sessions at most", countOf)
    .addHelpText(
      "after",
      examples(
        ["sessions list alice", "where Alice is logged in"],
        ["sessions list --active --limit 20", "the latest of everybody, where the store can tell"],
      ),
    )
    .action(async (username: string | undefined, _, command: Command) => {
      if (username === "")
        throw new CliError(EXIT.usage, "an empty username is nobody's: leave it out for all sessions");
      const { connection, options } = await invocationOf<{ limit?: number }>(command);
      const { listSessions } = await import("./sessions-list.ts");
      await listSessions(connection, username, options);
    });

  sessions
    .command("get")
    .description("show one session, without the values in it")
    .argument("<id>", ID)
    .addHelpText("after", examples(["sessions get -", "of the id that is typed or piped in"]) + CREDENTIAL)
    .action(async (id: string, _, command: Command) => {
      const { connection, options } = await invocationOf(command);
      const { getSession } = await import("./sessions-get.ts");
      await getSession(connection, await idOf(id), options);
    });

  sessions
    .command("delete")
    .description("end one session, or those of a user: whoever has them is logged out")
    .argument("[id]", ID)
    .option("--user <username>", "all sessions of this user instead")
    .option("--except <id>", "but for this one; - reads it from standard input")
    .option("-y, --yes", "do not ask on a terminal")
    .addHelpText(
      "after",
      examples(
        ["sessions delete -", "ends that of the id typed or piped in"],
        ["sessions delete --user alice", "ends all of Alice's"],
        ["sessions delete --user alice --except -", "but the one that is typed or piped in"],
      ) + CREDENTIAL,
    )
    .action(async (id: string | undefined, _, command: Command) => {
      const { user, except } = command.opts<{ user?: string; except?: string }>();
      if ((id === undefined) === (user === undefined)) {
        throw new CliError(EXIT.usage, "delete takes either the id of a session or --user");
      }
      if (user === undefined && except !== undefined) throw new CliError(EXIT.usage, "--except goes with --user");
      if (user === "" || except === "") throw new CliError(EXIT.usage, "--user and --except take no empty text");
      const { connection, options } = await invocationOf<{ yes?: boolean }>(command);
      const { deleteSession, deleteUserSessions } = await import("./sessions-delete.ts");
      if (user === undefined) return deleteSession(connection, await idOf(id!), options);
      const exceptId = except && (await idOf(except));
      process.exitCode = await deleteUserSessions(connection, user, exceptId, options);
    });

  addPrepareCommand(sessions);
}

async function idOf(argument: string): Promise<string> {
  return argument === "-" ? lineOfInput("id of a session") : argument;
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 1.");
}
