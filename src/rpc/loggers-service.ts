import { create } from "@bufbuild/protobuf";
import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { ActuatorError } from "../error.ts";
import {
  ClearLoggerLevelResponseSchema,
  GetLoggerResponseSchema,
  type ListLoggersRequest,
  type ListLoggersResponse,
  type LoggersService,
  RestoreAllLoggerLevelsResponseSchema,
  RestoreLoggerLevelResponseSchema,
  SetLoggerLevelResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { ChangeRequest } from "../loggers/change-request.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { LevelOutcome, LoggersOverview } from "../loggers/view.ts";
import { levelChangePage } from "./level-change-page.ts";
import { levelFromProto, levelToProto } from "./level-proto.ts";
import { loggerPage } from "./logger-page.ts";
import { resultToProto } from "./logger-proto.ts";

/** `actuator.v3.LoggersService` over the loggers. A list takes at most `maxBytes` of protobuf in one page. */
export function loggersService(loggers: Loggers, maxBytes: number): ServiceImpl<typeof LoggersService> {
  let plain: { readonly overview: LoggersOverview; readonly response: ListLoggersResponse } | undefined;

  return {
    listLoggers(request) {
      const overview = loggers.list();
      if (!isPlain(request)) return loggerPage(overview, request, maxBytes);
      if (plain?.overview !== overview) plain = { overview, response: loggerPage(overview, request, maxBytes) };
      return plain.response;
    },

    getLogger({ name }) {
      const found = loggers.get(name);
      if (found === undefined) {
        const message = "No logger and no group has this name.";
        throw new ActuatorError("NOT_FOUND", "LOGGER_NOT_FOUND", message, { field: "name" });
      }
      return create(GetLoggerResponseSchema, { result: resultToProto(found) });
    },

    setLoggerLevel(request) {
      const level = levelFromProto(request.level);
      if (level === undefined) {
        const message = "The level is not one to set: use one of OFF, FATAL, ERROR, WARN, INFO, DEBUG and TRACE.";
        throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LEVEL", message, { field: "level" });
      }
      const ttl = request.ttl === undefined ? "default" : ttlFrom(request.ttl);
      const change = loggers.setLevel(request.name, level, { ...changeFrom(request), ttl });
      return create(SetLoggerLevelResponseSchema, outcomeToProto(change));
    },

    clearLoggerLevel(request) {
      const change = loggers.setLevel(request.name, undefined, changeFrom(request));
      return create(ClearLoggerLevelResponseSchema, outcomeToProto(change));
    },

    restoreLoggerLevel(request) {
      const change = loggers.restoreLevel(request.name, changeFrom(request));
      return create(RestoreLoggerLevelResponseSchema, outcomeToProto(change));
    },

    restoreAllLoggerLevels(request) {
      const { restored, revision } = loggers.restoreAllLevels(changeFrom(request));
      return create(RestoreAllLoggerLevelsResponseSchema, { restored, revision: BigInt(revision) });
    },

    listLevelChanges: (request) => levelChangePage(loggers, request),
  };
}

function isPlain(request: ListLoggersRequest): boolean {
  return request.namePrefix === "" && !request.configuredOnly && request.pageSize === 0 && request.pageToken === "";
}

/** A revision of 0 is what an absent field looks like: the change is then unconditional. */
function changeFrom({ reason, ifRevision }: { readonly reason: string; readonly ifRevision?: bigint }): ChangeRequest {
  return { reason, ifRevision: ifRevision ? Number(ifRevision) : undefined };
}

/** Milliseconds; 0 only for 0, which means for ever, and not for a time that rounds to it. */
function ttlFrom(ttl: Duration): number {
  const milliseconds = durationMs(ttl);
  return milliseconds === 0 && ttl.nanos !== 0 ? Math.sign(ttl.nanos) : milliseconds;
}

function outcomeToProto(change: LevelOutcome) {
  return {
    result: resultToProto(change.result),
    previousLevel: levelToProto(change.previousLevel),
    revision: BigInt(change.revision),
  };
}
