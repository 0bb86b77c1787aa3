import type { CallRecord, HttpCall } from "../../../src/operations/calls/call-record.ts";

/** A call over gRPC that went well, and how it differs. */
export function callRecord(different: Partial<CallRecord> = {}): CallRecord {
  return {
    protocol: "grpc",
    operation: "actuator.v3.LoggersService/SetLoggerLevel",
    permission: "loggers:write",
    caller: undefined,
    address: "127.0.0.1",
    subject: {},
    code: "OK",
    startTime: 0,
    durationMs: 3,
    ...different,
  };
}

/** A request over REST that went well, and how it differs. */
export function restRecord(different: Partial<CallRecord> = {}, http: Partial<HttpCall> = {}): CallRecord {
  return callRecord({
    protocol: "rest",
    operation: "GET /loggers/{name}",
    http: { method: "GET", route: "/loggers/{name}", scheme: "http", status: 200, ...http },
    ...different,
  });
}

export const OPERATIONS = [
  "GET /",
  "GET /loggers/{name}",
  "POST /v1/traces",
  "actuator.v3.LoggersService/SetLoggerLevel",
];

export const ROUTES = ["", "/loggers/{name}", "/v1/traces"];
