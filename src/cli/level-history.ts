import { create } from "@bufbuild/protobuf";
import {
  LevelChange_Kind as Kind,
  type LevelChange,
  ListLevelChangesResponseSchema,
  LoggersService,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Connection } from "./connection.ts";
import { levelName } from "./level-text.ts";
import { note, print, printJson } from "./output.ts";
import { pages } from "./paging.ts";
import { printable } from "./printable.ts";
import { tableLines } from "./table.ts";
import { timeToText } from "./time.ts";

/** The most changes in one page. */
const PAGE_SIZE = 1_000;

const KINDS: Readonly<Record<number, string>> = {
  [Kind.SET]: "set",
  [Kind.CLEARED]: "cleared",
  [Kind.RESTORED]: "restored",
  [Kind.EXPIRED]: "expired",
  [Kind.APPLICATION]: "application",
};

/** `loggers history`: the latest changes of levels, newest first. */
export async function listChanges(
  connection: Connection,
  name: string | undefined,
  { limit, json = false }: { readonly limit: number; readonly json?: boolean },
): Promise<void> {
  const client = connection(LoggersService);
  const pageSize = Math.min(limit, PAGE_SIZE);
  const found = create(ListLevelChangesResponseSchema);
  for await (const page of pages((pageToken) => client.listLevelChanges({ name: name ?? "", pageSize, pageToken }))) {
    found.changes.push(...page.changes.slice(0, limit - found.changes.length));
    if (found.changes.length >= limit) break;
  }
  if (json) return printJson(ListLevelChangesResponseSchema, found);
  const { changes } = found;
  if (changes.length === 0)
    return note(name === undefined ? "No level has changed." : `No change of ${printable(name)}.`);
  const titles = ["TIME", "LOGGER", "CHANGE", "LEVEL", "BY", "REASON"];
  print(tableLines(titles, changes.map(rowOf)).join("\n"));
}

function rowOf({ time, name, kind, previousLevel, level, override }: LevelChange): string[] {
  return [
    time === undefined ? "?" : timeToText(time),
    printable(name),
    KINDS[kind] ?? "?",
    `${levelName(previousLevel) ?? "inherited"} → ${levelName(level) ?? "inherited"}`,
    printable(override?.actor || override?.instance || ""),
    printable(override?.reason ?? ""),
  ];
}
