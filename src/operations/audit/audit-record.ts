import type { Authentication } from "../../access/caller.ts";
import type { Permission } from "../../access/permission.ts";
import { logLine } from "../../common/log-line.ts";
import type { CallCode, CallProtocol, CallRecord } from "../calls/call-record.ts";

/** The audit record of one call, of an operator that attaches, or of levels that cannot be stored. It contains no secrets: a session is named by a fingerprint of its id. */
export interface AuditRecord {
  /** When the call began, RFC 3339. */
  readonly time: string;
  /** The name of the caller; left out if no caller was authenticated. */
  readonly who?: string;
  readonly authentication?: Authentication;
  /** The name of the client certificate that was refused, and why: `orders-ci (CERT_HAS_EXPIRED)`. */
  readonly certificate?: string;
  /**
   * What was called: `POST /loggers/{name}`, `actuator.v3.LoggersService/SetLoggerLevel`; `_OTHER` if there is no such operation.
   * `loggers.state`: levels can no longer be stored, or are stored again. `logs.raise`: a raised level was taken back because it made
   * too many records. `attach`: an operator attached to the process.
   */
  readonly operation: string;
  /** The permission that the operation requires. */
  readonly permission?: Permission;
  /** The target of the call, as far as it is known. `level` is null if a level was cleared. */
  readonly target?: {
    readonly logger?: string;
    readonly level?: string | null;
    /** `fleet`: the level of all instances, or of those that `selector` names. */
    readonly scope?: string;
    readonly selector?: string;
    /** Whether a canary was set on all instances, or taken back. */
    readonly promote?: boolean;
    /** The fleet whose levels an instance has stored. */
    readonly fleet?: string;
    readonly username?: string;
    readonly session?: string;
  };
  /** The IP address; left out over a Unix socket. */
  readonly address?: string;
  /** Left out for `loggers.state`, `logs.raise` and `attach`, as is the duration. */
  readonly protocol?: CallProtocol;
  /** `OK`, or what went wrong in gRPC's terms. */
  readonly result: CallCode;
  /** Why it was not `OK`, for programs: `PERMISSION_MISSING`, `HOST_NOT_ALLOWED`, `READ_ONLY`. */
  readonly reason?: string;
  /** A hold, a measurement and a watch of records have a record when they have begun, and one when they have ended; other calls have one without this. */
  readonly phase?: "begin" | "end";
  readonly durationMs?: number;
  /** How many refused calls before this one have no record, because there were too many in a minute. */
  readonly suppressed?: number;
}

/** The maximum length of text from callers. */
const MAX_TEXT = 256;

/** Makes the audit record of a call. */
export function auditRecord(call: CallRecord): AuditRecord {
  const { caller, operation, permission, address, protocol, code, startTime, durationMs } = call;
  const { logger, level, scope, selector, promote, fleet, username, session } = call.subject;
  const target = given({
    logger: short(logger),
    level: short(level),
    scope,
    selector: short(selector),
    promote,
    fleet: short(fleet),
    username: short(username),
    session: short(session),
  });
  return given({
    time: new Date(startTime).toISOString(),
    who: short(caller?.name),
    authentication: caller?.authentication,
    certificate: short(call.certificate),
    operation: short(operation || "_OTHER"),
    permission,
    target: Object.keys(target).length === 0 ? undefined : target,
    address: short(address),
    protocol,
    result: code,
    reason: call.reason,
    phase: call.phase,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  }) as AuditRecord;
}

/** Makes the audit record of levels that are in force and cannot be stored, and the one of their being stored again. */
export function storageRecord(isStored: boolean): AuditRecord {
  const record = { time: new Date().toISOString(), operation: "loggers.state" };
  return isStored ? { ...record, result: "OK" } : { ...record, result: "UNAVAILABLE", reason: "LEVELS_NOT_STORED" };
}

/** A raised level that was taken back because it made too many records. */
export interface RaisedVolume {
  readonly name: string;
  readonly level: string;
  readonly actor: string;
}

/** Makes the audit record of a raised level that was taken back. */
export function volumeRecord({ name, level, actor }: RaisedVolume): AuditRecord {
  const time = new Date().toISOString();
  const target = { logger: short(name), level };
  const what = { operation: "logs.raise", target, result: "RESOURCE_EXHAUSTED", reason: "TOO_MANY_RECORDS" } as const;
  return { time, ...(actor !== "" && { who: short(actor) }), ...what };
}

/** Makes the audit record of an operator that attaches to this process. */
export function attachRecord(who: string): AuditRecord {
  return { time: new Date().toISOString(), who: short(who), operation: "attach", result: "OK" };
}

/** A record as a line of a structured log. */
export function auditLine({ time, ...record }: AuditRecord): string {
  // A hold that does not expire ends when its caller disconnects.
  const well = record.result === "OK" || record.result === "CANCELLED";
  return logLine(well ? "info" : "warn", time, "audit", record);
}

function short<T extends string | null | undefined>(text: T): T | string {
  return typeof text === "string" && text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function given<T extends object>(entries: T): Partial<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Partial<T>;
}
