import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { ActuatorError } from "../../common/error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import {
  ClearLoggerLevelResponseSchema,
  GetLoggerResponseSchema,
  type ListLoggersRequest,
  type ListLoggersResponse,
  type LoggersService,
  RestoreAllLoggerLevelsResponseSchema,
  RestoreLoggerLevelResponseSchema,
  SetLoggerLevelResponseSchema,
} from "../../gen/actuator/v3/loggers_pb.ts";
import type { Loggers } from "../../loggers/loggers.ts";
import type { LoggersOverview } from "../../loggers/view.ts";
import { visibleLogger, visibleOverview } from "../visible-loggers.ts";
import { callerOf, reachOf, requestContextOf } from "./calls/call-context.ts";
import { fleetChangeFrom, fleetOutcomeToProto, isOfFleet } from "./fleet-scope.ts";
import { holdFleetLevel } from "./hold-fleet-level.ts";
import { holdLoggerLevel } from "./hold-logger-level.ts";
import { changeFrom, checkReach, requestedLevel, ttlFrom } from "./level-request.ts";
import { levelChangePage, loggerPage } from "./logger-page.ts";
import { outcomeToProto, resultToProto } from "./logger-proto.ts";
import { measureLoggers } from "./measure-loggers.ts";
import type { ServiceLimits } from "./streams.ts";
import { watchLoggers } from "./watch-loggers.ts";

/** Implements `actuator.v3.LoggersService`. */
export function loggersService(
  loggers: Loggers,
  fleet: Fleet | undefined,
  limits: ServiceLimits,
): ServiceImpl<typeof LoggersService> {
  const { maxBytes, heartbeatMs } = limits;
  const watch = watchLoggers(loggers, limits);
  let plain: { readonly overview: LoggersOverview; readonly response: ListLoggersResponse } | undefined;

  /** What is answered when the engine has the change. */
  async function changed(change: Promise<number>, name: string, context: HandlerContext) {
    return fleetOutcomeToProto(loggers, name, await change, context);
  }

  return {
    listLoggers(request, context) {
      const reach = reachOf(context);
      const overview = visibleOverview(loggers.list(), reach);
      if (!isPlain(request) || reach !== undefined) return loggerPage(overview, request, maxBytes);
      if (plain?.overview !== overview) plain = { overview, response: loggerPage(overview, request, maxBytes) };
      return plain.response;
    },

    getLogger({ name }, { values }) {
      requestContextOf(values).subject = { logger: name };
      const found = visibleLogger(loggers, name, callerOf(values));
      if (found === undefined) {
        const message = "No logger and no group has this name.";
        throw new ActuatorError("NOT_FOUND", "LOGGER_NOT_FOUND", message, { field: "name" });
      }
      return create(GetLoggerResponseSchema, { result: resultToProto(found) });
    },

    setLoggerLevel(request, context) {
      const level = requestedLevel(request.level);
      checkReach(loggers, context, request.name, level);
      const ttl = request.ttl === undefined ? "default" : ttlFrom(request.ttl);
      if (isOfFleet(fleet, request)) {
        const { served, asked } = fleetChangeFrom(fleet, request, context);
        const set = served.setLevel(request.name, level, { ...asked, ttlMs: ttl });
        return changed(set, request.name, context).then((fields) => create(SetLoggerLevelResponseSchema, fields));
      }
      const change = loggers.setLevel(request.name, level, { ...changeFrom(request, context), ttlMs: ttl });
      return create(SetLoggerLevelResponseSchema, outcomeToProto(change, reachOf(context)));
    },

    clearLoggerLevel(request, context) {
      checkReach(loggers, context, request.name, null);
      if (isOfFleet(fleet, request)) {
        const { served, asked } = fleetChangeFrom(fleet, request, context);
        const cleared = served.setLevel(request.name, undefined, asked);
        return changed(cleared, request.name, context).then((fields) => create(ClearLoggerLevelResponseSchema, fields));
      }
      const change = loggers.setLevel(request.name, undefined, changeFrom(request, context));
      return create(ClearLoggerLevelResponseSchema, outcomeToProto(change, reachOf(context)));
    },

    restoreLoggerLevel(request, context) {
      checkReach(loggers, context, request.name);
      if (isOfFleet(fleet, request)) {
        const { served, asked } = fleetChangeFrom(fleet, request, context);
        const restored = served.restoreLevel(request.name, asked);
        return changed(restored, request.name, context).then((fields) =>
          create(RestoreLoggerLevelResponseSchema, fields),
        );
      }
      const change = loggers.restoreLevel(request.name, changeFrom(request, context));
      return create(RestoreLoggerLevelResponseSchema, outcomeToProto(change, reachOf(context)));
    },

    restoreAllLoggerLevels(request, context) {
      checkReach(loggers, context, undefined);
      if (fleet?.isDefault) {
        const message = "Levels that are set here are the fleet's: end all of them with ResetFleet, or restore one.";
        throw new ActuatorError("FAILED_PRECONDITION", "FLEET_SCOPE", message);
      }
      const { restored, revision } = loggers.restoreAllLevels(changeFrom(request, context));
      return create(RestoreAllLoggerLevelsResponseSchema, { restored, revision: BigInt(revision) });
    },

    watchLoggers: (request, context) => watch(request, reachOf(context)),

    holdLoggerLevel: (request, context) =>
      isOfFleet(fleet, request)
        ? holdFleetLevel(loggers, fleet, request, context, heartbeatMs)
        : holdLoggerLevel(loggers, request, context, heartbeatMs),

    measureLoggers(request, context) {
      checkReach(loggers, context, request.namePrefix || undefined);
      return measureLoggers(loggers, request, limits, reachOf(context));
    },

    listLevelChanges: (request, { values }) => levelChangePage(loggers, request, callerOf(values)),
  };
}

function isPlain(request: ListLoggersRequest): boolean {
  return request.namePrefix === "" && !request.configuredOnly && request.pageSize === 0 && request.pageToken === "";
}
