import { toJson } from "@bufbuild/protobuf";
import {
  type ListSessionsResponse,
  type Session,
  SessionSchema,
  SessionsService,
} from "../gen/actuator/v3/sessions_pb.ts";
import type { Connection } from "./connection.ts";
import { note, print } from "./output.ts";
import { pages } from "./paging.ts";
import { printable, printableJson } from "./printable.ts";
import { SESSION_TEXTS, sessionCount } from "./sessions-text.ts";
import { type Column, columnsFor, tableLine, titleLine } from "./table.ts";

/** The most sessions in one page. */
const PAGE_SIZE = 1_000;

/** Which sessions, and how they are shown. */
export interface SessionListOptions {
  readonly json?: boolean;
  readonly active?: boolean;
  readonly expired?: boolean;
  readonly limit?: number;
}

/** Shows sessions as they come. */
interface Listing {
  show(sessions: readonly Session[]): void;
  /** There are no more, or nobody asks for more. */
  end(partial: boolean): void;
}

/** `sessions list`: the sessions of one user or of everybody, the latest used first where the store can, a page at a time. */
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
    // Counting may take a store long, and only the first page's count is shown.
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
  const kind = active ? "active " : expired ? "expired " : "";
  if (!json && shown === 0) note(`No ${kind}session${username === undefined ? "" : ` of ${printable(username)}`}.`);
  else if (terminal) {
    note(
      total === undefined || total <= shown
        ? sessionCount(shown, kind)
        : `${shown.toLocaleString("en")} of ${sessionCount(total, kind)}`,
    );
  }
  if (partial) note("The store could not be searched to its end: sessions may be missing.");
}

/** A table whose columns fit its first page. */
function tableListing(ofEverybody: boolean): Listing {
  const titles = ["ID", ...(ofEverybody ? ["USER"] : []), "LAST USED", "CREATED", "ENDS", "ATTRIBUTES"];
  const { id, user, lastUsed, created, ends, attributes } = SESSION_TEXTS;
  const texts = [id, ...(ofEverybody ? [user] : []), lastUsed, created, ends, attributes];
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

/** One document, the JSON of a ListSessionsResponse, written as it comes: a million sessions need no memory here. */
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
