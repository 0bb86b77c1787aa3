import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ActuatorError } from "../error.ts";
import {
  ClearLoggerLevelResponseSchema,
  GetLoggerResponseSchema,
  type ListLoggersRequest,
  type ListLoggersResponse,
  type LoggersService,
  SetLoggerLevelResponseSchema,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { LevelOutcome, LoggersOverview } from "../loggers/view.ts";
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
      const change = loggers.setLevel(request.name, level, { ifRevision: revisionFrom(request.ifRevision) });
      return create(SetLoggerLevelResponseSchema, changeToProto(change));
    },

    clearLoggerLevel(request) {
      const change = loggers.setLevel(request.name, undefined, { ifRevision: revisionFrom(request.ifRevision) });
      return create(ClearLoggerLevelResponseSchema, changeToProto(change));
    },
  };
}

function isPlain(request: ListLoggersRequest): boolean {
  return request.namePrefix === "" && !request.configuredOnly && request.pageSize === 0 && request.pageToken === "";
}

/** 0 is what an absent field looks like: the change is then unconditional. */
function revisionFrom(revision: bigint): number | undefined {
  return revision === 0n ? undefined : Number(revision);
}

function changeToProto(change: LevelOutcome) {
  return {
    result: resultToProto(change.result),
    previousLevel: levelToProto(change.previousLevel),
    revision: BigInt(change.revision),
  };
}
