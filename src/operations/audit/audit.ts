import { isWrite } from "../../access/permission.ts";
import { RateLimit } from "../../access/rate-limit.ts";
import {
  type Check,
  faultsWithin,
  objectOf,
  option,
  refuseFaults,
  type Shape,
  shaped,
  text,
} from "../../common/options.ts";
import { isRecord } from "../../common/record.ts";
import type { CallObserver, CallRecord } from "../calls/call-record.ts";
import { AuditFile } from "./audit-file.ts";
import { type AuditRecord, auditLine, auditRecord } from "./audit-record.ts";

/** Where the audit is written to at the end. */
export interface AuditFileOptions {
  /**
   * The path of a file of lines of JSON; made for its owner alone where it is not there, and again where it was moved away. The
   * file itself must be no symbolic link, though folders on the way to it may be.
   */
  readonly file: string;
}

/**
 * Whether and where it is kept who did what: `true` for lines of JSON on the standard error, a function, or a file. What a
 * function throws is reported and harms nobody.
 */
export type AuditOption = boolean | ((record: AuditRecord) => unknown) | AuditFileOptions;

/** Keeps the audit. */
export interface Audit extends CallObserver {
  /** Resolves when everything that was heard of is written, as far as it can be. */
  close(): Promise<void>;
}

const file = objectOf<AuditFileOptions>({ file: option(text, { path: "written" }) }, ({ file }) =>
  file === undefined ? "must have a file" : undefined,
);

/** The check of {@link AuditOption}. */
export const auditOption: Check = shaped(
  { ...(file.shape as Extract<Shape, { readonly kind: "object" }>), flag: true },
  (value) => {
    if (typeof value === "boolean" || typeof value === "function") return undefined;
    return isRecord(value) ? file(value) : 'must be true, false, a function or { file: "audit.log" }';
  },
  { default: true },
);

/** Refused calls a minute that get a record each, of a caller, and of all whom nobody knows: a flood of them fills no disk. */
const MAX_REFUSALS_PER_MINUTE = 300;

/**
 * Keeps a record of every write, every read of sessions, and everything that was refused for want of rights. Spans that are
 * taken are none of it: they are what a machine saw, not what somebody did.
 *
 * @param onError hears of what keeps records from being written
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not fit
 */
export function audit(option: AuditOption, onError: (error: unknown) => void = () => {}): Audit {
  refuseFaults(faultsWithin("audit", option, auditOption));
  const { write, close } = sinkOf(option, onError);
  const refusals = new RateLimit(MAX_REFUSALS_PER_MINUTE);
  let suppressed = 0;

  const observe = (call: CallRecord): void => {
    if (!isAudited(call)) return;
    if (REFUSALS.has(call.code)) {
      const who = isStranger(call) ? "" : `${call.caller?.authentication} ${call.caller?.name}`;
      if (refusals.waitSeconds(who) > 0) {
        suppressed++;
        return;
      }
      refusals.count(who);
    }
    const record = auditRecord(call);
    write(suppressed === 0 ? record : { ...record, suppressed });
    suppressed = 0;
  };
  return Object.assign(option === false ? () => {} : observe, { close });
}

/** How calls end that did nothing, and of which there may therefore be any number. */
const REFUSALS: ReadonlySet<CallRecord["code"]> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
]);

function isAudited(call: CallRecord): boolean {
  if (isRefused(call)) return true;
  const { permission, operation, protocol } = call;
  if (permission === undefined || protocol === "otlp" || operation.startsWith("opentelemetry.")) return false;
  return isWrite(permission) || permission.startsWith("sessions:");
}

/** A limit that somebody hit who is not known was that of wrong credentials. */
function isRefused(call: CallRecord): boolean {
  const { code, permission } = call;
  if (code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED") return true;
  return code === "RESOURCE_EXHAUSTED" && permission !== undefined && isStranger(call);
}

function isStranger({ caller }: CallRecord): boolean {
  return caller === undefined || caller.authentication === "none";
}

interface Sink {
  readonly write: (record: AuditRecord) => void;
  readonly close: () => Promise<void>;
}

function sinkOf(option: AuditOption, onError: (error: unknown) => void): Sink {
  if (typeof option === "object") {
    const file = new AuditFile(option.file, onError);
    return { write: (record) => file.append(auditLine(record)), close: () => file.close() };
  }
  if (typeof option === "function") return { write: careful(option, onError), close: async () => {} };
  return { write: (record) => console.error(auditLine(record)), close: async () => {} };
}

function careful(tell: (record: AuditRecord) => unknown, onError: (error: unknown) => void): Sink["write"] {
  return (record) => {
    try {
      const told = tell(record);
      if (told instanceof Promise) told.catch(onError);
    } catch (error) {
      onError(error);
    }
  };
}
