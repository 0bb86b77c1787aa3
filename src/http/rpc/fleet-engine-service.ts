import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { ActuatorError } from "../../common/error.ts";
import { isFleetName } from "../../fleet/options.ts";
import type { FleetRegister, FleetRegisters } from "../../fleet/register.ts";
import { type FleetEngineService, WatchHintsResponseSchema } from "../../gen/actuator/v3/fleet_engine_pb.ts";
import type { Gate } from "../gate/gate.ts";
import { callerOf, requestContextOf } from "./calls/call-context.ts";
import { liveEvents, type ServiceLimits } from "./streams.ts";

/** For a document and a hint, and what is around them. */
export const FLEET_ENGINE_OPTIONS = { readMaxBytes: 2.5 * 1024 * 1024 };

const MAX_DOCUMENT = 1024 * 1024;
const MAX_REPORT = 64 * 1024;
const MAX_HINT = 64 * 1024;
const MAX_ID = 1_000;
/** Of a watch that does not read. */
const MAX_HINTS = 100;

/** Implements `actuator.v3.FleetEngineService`. */
export function fleetEngineService(
  registers: FleetRegisters,
  { readOnly }: Pick<Gate, "readOnly">,
  { heartbeatMs }: ServiceLimits,
): ServiceImpl<typeof FleetEngineService> {
  function registerOf(fleet: string, { values }: Pick<HandlerContext, "values">): FleetRegister {
    if (callerOf(values).loggers !== undefined) {
      const message =
        "A caller for some loggers alone cannot be an instance of a fleet, which can set the levels of all.";
      throw new ActuatorError("PERMISSION_DENIED", "PERMISSION_MISSING", message, { permission: "fleet:join" });
    }
    if (!isFleetName(fleet)) throw invalid("fleet", 'must have 1 to 100 letters, digits, "_", "-" and "."');
    return registers.register(fleet);
  }

  return {
    exchange({ fleet, version, instance, report }, context) {
      requireLength("instance", instance, MAX_ID);
      requireLength("version", version, MAX_ID);
      requireLength("report", report, MAX_REPORT);
      const own = instance === "" ? undefined : { id: instance, text: report };
      const { now, document } = registerOf(fleet, context).exchange(version, own);
      return { now: BigInt(Math.floor(now)), ...(document && { document: { ...document } }) };
    },

    store({ fleet, document, version, hint }, context) {
      requestContextOf(context.values).subject = { fleet };
      if (readOnly) throw new ActuatorError("PERMISSION_DENIED", "READ_ONLY", "This actuator refuses all changes.");
      if (document === undefined) throw invalid("document", "is missing");
      requireLength("document", document.text, MAX_DOCUMENT);
      requireLength("version", document.version, MAX_ID);
      const { version: next, text } = document;
      // Without a hint, the instances read the document.
      const told = Buffer.byteLength(hint) > MAX_HINT ? "" : hint;
      return { isStored: registerOf(fleet, context).store({ version: next, text }, version, told) };
    },

    listReports({ fleet }, context) {
      const reports = registerOf(fleet, context).instances();
      return {
        reports: reports.map(({ id, text, seen }) => {
          return { instance: id, report: text, seen: BigInt(Math.floor(seen)) };
        }),
      };
    },

    watchHints({ fleet }, context) {
      const register = registerOf(fleet, context);
      const interval = durationFromMs(heartbeatMs);
      const heartbeat = () => create(WatchHintsResponseSchema, { event: { case: "heartbeat", value: { interval } } });
      const hints: string[] = [];
      let isBegun = false;
      let stop = () => {};
      return liveEvents(
        {
          open(wake) {
            stop = register.onHint((hint = "") => {
              // One empty hint stands for all that a slow reader has missed.
              if (hints.length >= MAX_HINTS) hints.splice(0, hints.length, "");
              else hints.push(hint);
              wake();
            });
          },
          take() {
            if (!isBegun) {
              isBegun = true;
              return heartbeat();
            }
            const hint = hints.shift();
            if (hint === undefined) return undefined;
            return create(WatchHintsResponseSchema, { event: { case: "hint", value: hint } });
          },
          heartbeat,
          close: () => stop(),
        },
        heartbeatMs,
      );
    },

    leaveFleet({ fleet, instance }, context) {
      registerOf(fleet, context).remove(instance);
      return {};
    },
  };
}

function requireLength(field: string, text: string, max: number): void {
  if (Buffer.byteLength(text) > max) throw invalid(field, `must have at most ${max} bytes`);
}

function invalid(field: string, fault: string): ActuatorError {
  return new ActuatorError("INVALID_ARGUMENT", "INVALID_FIELD", `${field} ${fault}.`, { field });
}
