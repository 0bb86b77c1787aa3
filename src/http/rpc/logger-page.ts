import { create } from "@bufbuild/protobuf";
import {
  type ListLoggersRequest,
  type ListLoggersResponse,
  ListLoggersResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import { ROOT } from "../../loggers/name.ts";
import type { Override } from "../../loggers/setting.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "../../loggers/view.ts";
import { levelToProto } from "./level-proto.ts";
import { groupToProto, loggerToProto } from "./logger-proto.ts";
import { pageSizeFrom, stringWireBytes, takePage } from "./page.ts";
import { pageKeyFrom, pageTokenFrom } from "./page-token.ts";

type Filters = Pick<ListLoggersRequest, "namePrefix" | "configuredOnly">;

/** Tags, lengths, three levels and the frame of a logger or group. */
const FIXED_BYTES = 24;
/** Levels, revision, a token for the longest name: what a page has beside its loggers. */
const PAGE_BYTES = 4096;

/**
 * The page of the overview that is asked for, within `maxBytes` of protobuf.
 *
 * @throws ActuatorError INVALID_ARGUMENT for a negative page size or a page token of another list.
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
    subject.name.startsWith(filters.namePrefix) && (!filters.configuredOnly || subject.configuredLevel !== undefined)
  );
}

/** The order of the overview: ROOT, then by UTF-16 code unit. */
export function comesAfter(name: string, last: string): boolean {
  if (name === ROOT) return false;
  return last === ROOT || name > last;
}

/** At least as many bytes as the logger takes on the wire. */
export function loggerWireBytes(logger: Logger): number {
  const warnings = logger.warnings.reduce((sum, warning) => sum + stringWireBytes(warning), 0);
  const texts = stringWireBytes(logger.name) + stringWireBytes(logger.kind) + overrideWireBytes(logger.override);
  return texts + warnings + FIXED_BYTES;
}

/** At least as many bytes as the group takes on the wire. */
export function groupWireBytes(group: LoggerGroup): number {
  const members = group.members.reduce((sum, member) => sum + stringWireBytes(member), 0);
  return stringWireBytes(group.name) + overrideWireBytes(group.override) + members + FIXED_BYTES;
}

function overrideWireBytes(override: Override | undefined): number {
  if (override === undefined) return 0;
  const { actor, reason, instance } = override;
  return stringWireBytes(actor) + stringWireBytes(reason) + stringWireBytes(instance) + 2 * FIXED_BYTES;
}
