import { GetSessionResponseSchema, SessionsService } from "../gen/actuator/v3/sessions_pb.ts";
import type { Connection } from "./connection.ts";
import { print, printJson, styled } from "./output.ts";
import { SESSION_TEXTS } from "./sessions-text.ts";

const LABEL_WIDTH = 14;

/** `sessions get`: all that is known of one session. Values of attributes are not, by anybody. */
export async function getSession(
  connection: Connection,
  id: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const response = await connection(SessionsService).getSession({ id });
  if (json) return printJson(GetSessionResponseSchema, response);
  const { session } = response;
  if (session === undefined) return;
  print(styled("bold", SESSION_TEXTS.id(session)));
  const lines: [string, string][] = [
    ["user", SESSION_TEXTS.user(session) || "nobody known"],
    ["created", SESSION_TEXTS.created(session)],
    ["last used", SESSION_TEXTS.lastUsed(session)],
    ["ends", SESSION_TEXTS.ends(session)],
    ["attributes", SESSION_TEXTS.attributes(session) || "none"],
  ];
  for (const [label, text] of lines) print(`  ${label.padEnd(LABEL_WIDTH)}${text}`);
}
