import { create } from "@bufbuild/protobuf";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  DeleteSessionResponseSchema,
  GetSessionResponseSchema,
  ListSessionsResponseSchema,
  type Session,
  SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import type { Connection } from "./connection.ts";
import { durationToText } from "./duration.ts";
import { note, print, printJson, styled } from "./output.ts";
import { pages } from "./paging.ts";
import { printable } from "./printable.ts";
import { tableLines } from "./table.ts";
import { timeToText } from "./time.ts";

const LABEL_WIDTH = 14;

interface SessionOptions {
  readonly json?: boolean;
}

/** `sessions list`: the sessions of one user, the latest used first. */
export async function listSessions(connection: Connection, username: string, { json }: SessionOptions): Promise<void> {
  const client = connection(SessionsService);
  const found = create(ListSessionsResponseSchema);
  for await (const page of pages((pageToken) => client.listSessions({ username, pageToken }))) {
    found.sessions.push(...page.sessions);
    found.partial ||= page.partial;
  }
  const { sessions, partial } = found;
  if (json) printJson(ListSessionsResponseSchema, found);
  else if (sessions.length > 0) {
    print(tableLines(["ID", "LAST USED", "CREATED", "ENDS", "ATTRIBUTES"], sessions.map(rowOf)).join("\n"));
  } else note(`No session of ${printable(username)}.`);
  if (partial) note("The store could not be searched to its end: sessions may be missing.");
}

/** `sessions get`: all that is known of one session. Values of attributes are not, by anybody. */
export async function getSession(connection: Connection, id: string, { json }: SessionOptions): Promise<void> {
  const response = await connection(SessionsService).getSession({ id });
  if (json) return printJson(GetSessionResponseSchema, response);
  const { session } = response;
  if (session === undefined) return;
  print(styled("bold", printable(session.id)));
  const lines: [string, string][] = [
    ["user", printable(session.username) || "nobody known"],
    ["created", created(session)],
    ["last used", lastUsed(session)],
    ["ends", ends(session)],
    ["attributes", attributes(session) || "none"],
  ];
  for (const [label, text] of lines) print(`  ${label.padEnd(LABEL_WIDTH)}${text}`);
}

/** `sessions delete`: the session ends. One that is gone is no failure. The id, a credential, is not repeated. */
export async function deleteSession(connection: Connection, id: string, { json }: SessionOptions): Promise<void> {
  const response = await connection(SessionsService).deleteSession({ id });
  if (json) printJson(DeleteSessionResponseSchema, response);
  else print(response.existed ? "session ended" : "there was no such session");
}

function rowOf(session: Session): string[] {
  return [printable(session.id), lastUsed(session), created(session), ends(session), attributes(session)];
}

function created({ creationTime }: Session): string {
  return creationTime === undefined ? "unknown" : timeToText(creationTime);
}

function lastUsed({ lastAccessedTime }: Session): string {
  return lastAccessedTime === undefined ? "unknown" : timeToText(lastAccessedTime);
}

function ends({ expired, maxInactiveInterval, lastAccessedTime }: Session): string {
  if (expired) return "expired";
  if (maxInactiveInterval === undefined) return "unknown";
  const interval = durationMs(maxInactiveInterval);
  if (interval < 0) return "never";
  if (lastAccessedTime === undefined) return `after ${durationToText(interval)} unused`;
  return `in ${durationToText(timestampMs(lastAccessedTime) + interval - Date.now())}`;
}

function attributes({ attributeNames }: Session): string {
  return attributeNames.map(printable).join(", ");
}
