import { toJson } from "@bufbuild/protobuf";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable, printableJson } from "../common/printable.ts";
import {
  GetSessionResponseSchema,
  type ListSessionsResponse,
  type Session,
  SessionSchema,
  SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import { type Connection, pages, printJson } from "./connection.ts";
import {
  type Column,
  columnsFor,
  countText,
  note,
  print,
  printDetails,
  tableLine,
  timeText,
  titleLine,
} from "./output.ts";

const PAGE_SIZE = 1_000;

/** The options of `sessions list`. */
export interface SessionListOptions {
  readonly json?: boolean;
  readonly active?: boolean;
  readonly expired?: boolean;
  readonly limit?: number;
}

/** Shows sessions page by page. */
interface Listing {
  show(sessions: readonly Session[]): void;
  /** Called after the last page. */
  end(partial: boolean): void;
}

/** Runs `sessions list`: shows the sessions of one user or of all users page by page, the latest used first if the store can. */
export async function listSessions(
  connection: Connection,
  username: string | undefined,
  { json = false, active, expired, limit = Number.POSITIVE_INFINITY }: SessionListOptions,
): Promise<void> {
  const client = connection(SessionsService);
  const terminal = process.stdout.isTTY && !json;
  const request = {
    username: username ?? "",
    pageSize: Math.min(limit, PAGE_SIZE),
    ...(active && { active: true }),
    ...(expired && { active: false }),
  };
  const fetch = (pageToken: string) =>
    // Counting may take the store long, and only the count of the first page is shown.
    client.listSessions({
      ...request,
      pageToken,
      includeTotal: terminal && Number.isFinite(limit) && pageToken === "",
    });
  const listing = json ? jsonListing() : tableListing(username === undefined);
  let total: ListSessionsResponse["totalSize"];
  let shown = 0;
  let partial = false;
  for await (const page of pages(fetch)) {
    total ??= page.totalSize;
    partial ||= page.partial;
    const sessions = page.sessions.slice(0, limit - shown);
    listing.show(sessions);
    shown += sessions.length;
    if (shown >= limit) break;
  }
  listing.end(partial);
  const noun = active ? "active session" : expired ? "expired session" : "session";
  if (!json && shown === 0) note(`No ${noun}${username === undefined ? "" : ` of ${printable(username)}`}.`);
  else if (terminal) {
    note(
      total === undefined || total <= shown
        ? countText(shown, noun)
        : `${shown.toLocaleString("en")} of ${countText(total, noun)}`,
    );
  }
  if (partial) note("The store could not be searched completely: sessions may be missing.");
}

/** Writes a table whose columns fit its first page. */
function tableListing(ofAllUsers: boolean): Listing {
  const titles = ["ID", ...(ofAllUsers ? ["USER"] : []), "LAST USED", "CREATED", "ENDS", "ATTRIBUTES"];
  const { id, user, lastUsed, created, ends, attributes } = SESSION_TEXTS;
  const texts = [id, ...(ofAllUsers ? [user] : []), lastUsed, created, ends, attributes];
  let columns: readonly Column[] | undefined;
  return {
    show(sessions) {
      if (sessions.length === 0) return;
      const rows = sessions.map((session) => texts.map((text) => text(session)));
      const lines: string[] = [];
      if (columns === undefined) {
        columns = columnsFor(titles, rows);
        lines.push(titleLine(columns));
      }
      for (const row of rows) lines.push(tableLine(columns, row));
      print(lines.join("\n"));
    },
    end() {},
  };
}

/** Writes one document, the JSON of a ListSessionsResponse, page by page: a million sessions need no memory here. */
function jsonListing(): Listing {
  let first = true;
  return {
    show(sessions) {
      for (const session of sessions) {
        process.stdout.write(first ? '{\n  "sessions": [\n    ' : ",\n    ");
        process.stdout.write(printableJson(toJson(SessionSchema, session), 2).replaceAll("\n", "\n    "));
        first = false;
      }
    },
    end(partial) {
      const rest = partial ? '"partial": true' : "";
      if (first) print(`{${rest}}`);
      else print(`\n  ]${rest && `,\n  ${rest}`}\n}`);
    },
  };
}

/** Runs `sessions get`: shows everything but the values of attributes, which the server does not tell. */
export async function getSession(
  connection: Connection,
  id: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const response = await connection(SessionsService).getSession({ id });
  if (json) return printJson(GetSessionResponseSchema, response);
  const { session } = response;
  if (session === undefined) return;
  printDetails(SESSION_TEXTS.id(session), 14, [
    ["user", SESSION_TEXTS.user(session) || "unknown"],
    ["created", SESSION_TEXTS.created(session)],
    ["last used", SESSION_TEXTS.lastUsed(session)],
    ["ends", SESSION_TEXTS.ends(session)],
    ["attributes", SESSION_TEXTS.attributes(session) || "none"],
  ]);
}

/** The texts of the columns of a list and of the lines of one session. */
const SESSION_TEXTS = {
  id: ({ id }: Session) => printable(id),
  user: ({ username }: Session) => printable(username),
  created: ({ creationTime }: Session) =>
    creationTime === undefined ? "unknown" : timeText(timestampMs(creationTime)),
  lastUsed: ({ lastAccessedTime }: Session) =>
    lastAccessedTime === undefined ? "unknown" : timeText(timestampMs(lastAccessedTime)),
  ends,
  attributes: ({ attributeNames }: Session) => attributeNames.map(printable).join(", "),
} as const;

function ends({ expired, maxInactiveInterval, lastAccessedTime }: Session): string {
  if (expired) return "expired";
  if (maxInactiveInterval === undefined) return "unknown";
  const interval = durationMs(maxInactiveInterval);
  if (interval < 0) return "never";
  if (lastAccessedTime === undefined) return `after ${durationToText(interval)} unused`;
  return `in ${durationToText(timestampMs(lastAccessedTime) + interval - Date.now())}`;
}
