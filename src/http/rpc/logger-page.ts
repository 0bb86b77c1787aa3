import { create } from "@bufbuild/protobuf";
import type { Caller } from "../../access/caller.ts";
import {
  type ListLevelChangesRequest,
  type ListLevelChangesResponse,
  ListLevelChangesResponseSchema,
  type ListLoggersRequest,
  type ListLoggersResponse,
  ListLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { hasPrefix, loggerName, ROOT } from "../../loggers/name.ts";
import type { Override } from "../../loggers/setting.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "../../loggers/view.ts";
import { visibleHistory } from "../visible-loggers.ts";
import { groupToProto, levelChangeToProto, levelToProto, loggerToProto } from "./logger-proto.ts";
import { pageKeyFrom, pageSizeFrom, pageTokenFrom, stringWireBytes, takePage } from "./page.ts";

type Filters = Pick<ListLoggersRequest, "namePrefix" | "configuredOnly">;

/** Tags, lengths, three levels and the frame of a logger or group. */
const FIXED_BYTES = 24;
/** What a page has beside its loggers: levels, revision, a token for the longest name. */
const PAGE_BYTES = 4096;

/**
 * Returns the requested page of the loggers, of at most `maxBytes` of protobuf.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list
 */
export function loggerPage(
  overview: LoggersOverview,
  request: ListLoggersRequest,
  maxBytes: number,
): ListLoggersResponse {
  const filterKey = ["loggers", request.namePrefix, Number(request.configuredOnly)];
  const [last] = pageKeyFrom(filterKey, request.pageToken, ["text"]) ?? [];
  const size = pageSizeFrom(request.pageSize, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);

  const groups = last === undefined ? overview.groups.filter((group) => passes(group, request)) : [];
  const bytes = maxBytes - PAGE_BYTES - groups.reduce((sum, group) => sum + groupWireBytes(group), 0);
  const page = takePage(selected(overview.loggers, request, last), { size, bytes }, loggerWireBytes);
  return create(ListLoggersResponseSchema, {
    levels: overview.levels.map(levelToProto),
    loggers: page.elements.map(loggerToProto),
    groups: groups.map(groupToProto),
    nextPageToken: page.more ? pageTokenFrom(filterKey, [page.elements.at(-1)!.name]) : "",
    revision: BigInt(overview.revision),
  });
}

function* selected(loggers: readonly Logger[], filters: Filters, last: string | number | undefined): Iterable<Logger> {
  for (const logger of loggers) {
    if (passes(logger, filters) && (last === undefined || comesAfter(logger.name, String(last)))) yield logger;
  }
}

function passes(subject: Logger | LoggerGroup, filters: Filters): boolean {
  return (
    hasPrefix(subject.name, filters.namePrefix) && (!filters.configuredOnly || subject.configuredLevel !== undefined)
  );
}

/** Whether a name follows another in the order of the overview: ROOT, then by UTF-16 code unit. */
export function comesAfter(name: string, last: string): boolean {
  if (name === ROOT) return false;
  return last === ROOT || name > last;
}

/** An upper bound of the bytes of a logger on the wire. */
export function loggerWireBytes(logger: Logger): number {
  const warnings = logger.warnings.reduce((sum, warning) => sum + stringWireBytes(warning), 0);
  const texts = stringWireBytes(logger.name) + stringWireBytes(logger.kind) + overrideWireBytes(logger.override);
  return texts + warnings + FIXED_BYTES;
}

/** An upper bound of the bytes of a group on the wire. */
export function groupWireBytes(group: LoggerGroup): number {
  const members = group.members.reduce((sum, member) => sum + stringWireBytes(member), 0);
  return stringWireBytes(group.name) + overrideWireBytes(group.override) + members + FIXED_BYTES;
}

function overrideWireBytes(override: Override | undefined): number {
  if (override === undefined) return 0;
  const { actor, reason, instance } = override;
  return stringWireBytes(actor) + stringWireBytes(reason) + stringWireBytes(instance) + 2 * FIXED_BYTES;
}

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/**
 * Returns the requested page of the history of levels, as far as the caller may see it.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an invalid name, a negative page size or a page token of another list, PERMISSION_DENIED for a
 *   logger that the caller may not see
 */
export function levelChangePage(
  loggers: Loggers,
  request: ListLevelChangesRequest,
  caller: Caller,
): ListLevelChangesResponse {
  const name = request.name === "" ? undefined : loggerName(request.name);
  const filterKey = ["changes", name ?? ""];
  const last = pageKeyFrom(filterKey, request.pageToken, ["integer"]);
  const size = pageSizeFrom(request.pageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const before = last === undefined ? undefined : Number(last[0]);
  const found = visibleHistory(loggers, { name, before, limit: size + 1 }, caller);
  const page = found.slice(0, size);
  return create(ListLevelChangesResponseSchema, {
    changes: page.map(levelChangeToProto),
    nextPageToken: found.length > size ? pageTokenFrom(filterKey, [page.at(-1)!.sequence]) : "",
  });
}
