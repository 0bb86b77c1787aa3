import {
  DeleteSessionResponseSchema,
  DeleteUserSessionsResponseSchema,
  SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import type { Connection } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { canAsk, confirmed } from "./input.ts";
import { note, print, printJson } from "./output.ts";
import { printable } from "./printable.ts";
import { sessionCount } from "./sessions-text.ts";

interface DeleteOptions {
  readonly json?: boolean;
}

/** `sessions delete <id>`: the session ends. One that is gone is no failure. The id, a credential, is not repeated. */
export async function deleteSession(connection: Connection, id: string, { json }: DeleteOptions): Promise<void> {
  const response = await connection(SessionsService).deleteSession({ id });
  if (json) printJson(DeleteSessionResponseSchema, response);
  else print(response.existed ? "session ended" : "there was no such session");
}

/**
 * `sessions delete --user`: all sessions of a user end, or all but one. On a terminal somebody is asked first. Answers the
 * exit code: 1 where the user may still have sessions, and where the answer was no.
 */
export async function deleteUserSessions(
  connection: Connection,
  username: string,
  exceptId: string | undefined,
  { json, yes }: DeleteOptions & { readonly yes?: boolean },
): Promise<ExitCode> {
  const user = printable(username);
  if (!yes && canAsk() && !(await confirmed(await question(connection, username, exceptId !== undefined)))) {
    note("Nothing was ended.");
    return EXIT.refused;
  }
  const response = await connection(SessionsService).deleteUserSessions({ username, exceptId: exceptId ?? "" });
  if (json) printJson(DeleteUserSessionsResponseSchema, response);
  else print(`${sessionCount(response.deleted)} of ${user} ended`);
  if (!response.partial) return EXIT.ok;
  note(`The store could not be searched to its end: ${user} may still have sessions.`);
  return EXIT.refused;
}

async function question(connection: Connection, username: string, spares: boolean): Promise<string> {
  const { totalSize } = await connection(SessionsService).listSessions({ username, pageSize: 1, includeTotal: true });
  const all = totalSize === undefined ? "all sessions" : `all ${sessionCount(totalSize)}`;
  return `End ${all} of ${printable(username)}${spares ? " but that one" : ""}?`;
}
