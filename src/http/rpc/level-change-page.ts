import { create } from "@bufbuild/protobuf";
import {
  type ListLevelChangesRequest,
  type ListLevelChangesResponse,
  ListLevelChangesResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import { loggerName } from "../../loggers/name.ts";
import { levelChangeToProto } from "./level-change-proto.ts";
import { pageSizeFrom } from "./page.ts";
import { pageKeyFrom, pageTokenFrom } from "./page-token.ts";

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/**
 * The page of the history that is asked for.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an unfit name, a negative page size or a page token of another list.
 */
export function levelChangePage(loggers: Loggers, request: ListLevelChangesRequest): ListLevelChangesResponse {
  const name = request.name === "" ? undefined : loggerName(request.name);
  const filterKey = ["changes", name ?? ""];
  const last = pageKeyFrom(filterKey, request.pageToken, ["integer"]);
  const size = pageSizeFrom(request.pageSize, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const before = last === undefined ? undefined : Number(last[0]);
  const found = loggers.history({ name, before, limit: size + 1 });
  const page = found.slice(0, size);
  return create(ListLevelChangesResponseSchema, {
    changes: page.map(levelChangeToProto),
    nextPageToken: found.length > size ? pageTokenFrom(filterKey, [page.at(-1)!.sequence]) : "",
  });
}
