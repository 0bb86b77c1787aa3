import { create } from "@bufbuild/protobuf";
import { type ListLoggersResponse, ListLoggersResponseSchema, LoggersService } from "../gen/actuator/v3/loggers_pb.ts";
import type { Connection } from "./connection.ts";
import { overviewText } from "./logger-tree.ts";
import { nameFilter } from "./name-filter.ts";
import { note, print, printJson } from "./output.ts";
import { pages } from "./paging.ts";

interface ListOptions {
  readonly configured?: boolean;
  readonly json?: boolean;
}

/** `loggers list`: the loggers and groups that pass the filters. */
export async function listLoggers(
  connection: Connection,
  filters: readonly string[],
  { configured = false, json = false }: ListOptions,
): Promise<void> {
  const found = await fetchLoggers(connection, filters, configured);
  if (json) return printJson(ListLoggersResponseSchema, found);
  const text = overviewText(found.loggers, found.groups);
  if (text !== "") return print(text);
  const what = configured ? "logger with a level of its own" : "logger";
  note(filters.length === 0 ? `No ${what}.` : `No ${what} matches ${filters.join(" or ")}.`);
}

/** All pages as one answer, without what does not pass the filters. */
export async function fetchLoggers(
  connection: Connection,
  filters: readonly string[] = [],
  configuredOnly = false,
): Promise<ListLoggersResponse> {
  const client = connection(LoggersService);
  const { prefix, passes } = nameFilter(filters);
  const all = create(ListLoggersResponseSchema);
  for await (const page of pages((pageToken) =>
    client.listLoggers({ namePrefix: prefix, configuredOnly, pageToken }),
  )) {
    all.levels = page.levels;
    all.revision = page.revision;
    for (const logger of page.loggers) if (passes(logger.name)) all.loggers.push(logger);
    for (const group of page.groups) if (passes(group.name)) all.groups.push(group);
  }
  return all;
}
