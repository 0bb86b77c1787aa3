import { printable } from "../common/printable.ts";
import {
  DeleteSessionResponseSchema,
  DeleteUserSessionsResponseSchema,
  SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT, type ExitCode } from "./error.ts";
import { ifAllowed } from "./failure.ts";
import { canAsk, confirmed } from "./input.ts";
import { countText, note, print } from "./output.ts";

interface DeleteOptions {
  readonly json?: boolean;
}

/** Runs `sessions delete <id>`. Returns the exit code: 1 if there was no such session. The id is a credential and is not repeated. */
export async function deleteSession(connection: Connection, id: string, { json }: DeleteOptions): Promise<ExitCode> {
  const response = await connection(SessionsService).deleteSession({ id });
  if (json) printJson(DeleteSessionResponseSchema, response);
  else if (response.existed) print("session ended");
  else note("there was no such session");
  return response.existed ? EXIT.ok : EXIT.refused;
}

/**
 * Runs `sessions delete --user`: ends all sessions of a user, or all but one. Asks first on a terminal. Returns the exit code:
 * 1 if the user may still have sessions, or if the answer was no.
 */
export async function deleteUserSessions(
  connection: Connection,
  username: string,
  exceptId: string | undefined,
  { json, yes }: DeleteOptions & { readonly yes?: boolean },
): Promise<ExitCode> {
  const user = printable(username);
  if (!yes && canAsk() && !(await confirmed(await question(connection, username, exceptId !== undefined)))) {
    note("No session was ended.");
    return EXIT.refused;
  }
  const response = await connection(SessionsService).deleteUserSessions({ username, exceptId: exceptId ?? "" });
  if (json) printJson(DeleteUserSessionsResponseSchema, response);
  else print(`${countText(response.deleted, "session")} of ${user} ended`);
  if (!response.partial) return EXIT.ok;
  note(`The store could not be searched completely: ${user} may still have sessions.`);
  return EXIT.refused;
}

async function question(connection: Connection, username: string, spares: boolean): Promise<string> {
  const request = { username, pageSize: 1, includeTotal: true };
  // A caller may be allowed to delete sessions and not to find them.
  const { totalSize } = (await ifAllowed(connection(SessionsService).listSessions(request))) ?? {};
  const all = totalSize === undefined ? "all sessions" : `all ${countText(totalSize, "session")}`;
  return `End ${all} of ${printable(username)}${spares ? " but that one" : ""}?`;
}
