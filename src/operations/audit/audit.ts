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
import {
  type AuditRecord,
  attachRecord,
  auditLine,
  auditRecord,
  type RaisedVolume,
  storageRecord,
  volumeRecord,
} from "./audit-record.ts";

/** Where the audit is written to at the end. */
export interface AuditFileOptions {
  /**
   * The path of a file with one line of JSON for each record. The file is created for its owner alone, and created again after
   * it was moved. The file itself must not be a symbolic link; the folders on the way to it may be.
   */
  readonly file: string;
}

/**
 * Whether and where calls are recorded: `true` for lines of JSON on the standard error, a function, or a file. An
 * error that a function throws is reported.
 */
export type AuditOption = boolean | ((record: AuditRecord) => unknown) | AuditFileOptions;

/** Writes the audit. */
export interface Audit extends CallObserver {
  /** Resolves when all records are written, as far as possible. */
  close(): Promise<void>;
  /** Records that levels can no longer be stored, or are stored again. */
  storage(isStored: boolean): void;
  /** Records that a raised level was taken back because it made too many records. */
  volume(event: RaisedVolume): void;
  /** Records that an operator attached to this process. */
  attached(who: string): void;
  /** The number of records that were given up since the process began, because the file could not be written. */
  readonly lost: number;
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

/** Records of refused calls in a minute, for each caller and for all anonymous ones together: a flood must not fill the disk. */
const MAX_REFUSALS_PER_MINUTE = 300;

/**
 * Records every write, every read of sessions and of what loggers write, and every call that was refused for missing credentials or permissions. Received
 * spans are not recorded.
 *
 * @param onError called if records cannot be written
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not fit
 */
export function audit(option: AuditOption, onError: (error: unknown) => void = () => {}): Audit {
  refuseFaults(faultsWithin("audit", option, auditOption));
  const { write, close, lost = () => 0 } = sinkOf(option, onError);
  const refusals = new RateLimit(MAX_REFUSALS_PER_MINUTE);
  let suppressed = 0;

  const observe = (call: CallRecord): void => {
    if (!isAudited(call)) return;
    if (REFUSALS.has(call.code)) {
      const who = isAnonymous(call) ? "" : `${call.caller?.authentication} ${call.caller?.name}`;
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
  const storage = (isStored: boolean) => write(storageRecord(isStored));
  const volume = (event: RaisedVolume) => write(volumeRecord(event));
  const attached = (who: string) => write(attachRecord(who));
  const isOn = option !== false;
  const off = () => {};
  const observer = isOn
    ? Object.assign(observe, { close, storage, volume, attached })
    : Object.assign(() => {}, { close, storage: off, volume: off, attached: off });
  return Object.defineProperty(observer, "lost", { get: lost }) as Audit;
}

/** The results of refused calls, of which there may be any number. */
const REFUSALS: ReadonlySet<CallRecord["code"]> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
]);

function isAudited(call: CallRecord): boolean {
  if (isRefused(call)) return true;
  const { permission, operation, protocol } = call;
  if (permission === undefined || protocol === "otlp" || operation.startsWith("opentelemetry.")) return false;
  // Of what instances of a fleet do, changes alone: they report every 5 seconds.
  if (permission === "fleet:join") return operation.endsWith("/Store");
  return isWrite(permission) || permission.startsWith("sessions:") || permission === "logs:read";
}

/** If an anonymous caller hit a limit, it was the limit of failed authentications. */
function isRefused(call: CallRecord): boolean {
  const { code, permission } = call;
  if (code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED") return true;
  return code === "RESOURCE_EXHAUSTED" && permission !== undefined && isAnonymous(call);
}

function isAnonymous({ caller }: CallRecord): boolean {
  return caller === undefined || caller.authentication === "none";
}

interface Sink {
  readonly write: (record: AuditRecord) => void;
  readonly close: () => Promise<void>;
  readonly lost?: () => number;
}

function sinkOf(option: AuditOption, onError: (error: unknown) => void): Sink {
  if (typeof option === "object") {
    const file = new AuditFile(option.file, onError);
    return { write: (record) => file.append(auditLine(record)), close: () => file.close(), lost: () => file.lost };
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
