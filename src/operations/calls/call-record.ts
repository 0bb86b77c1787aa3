import { createHash } from "node:crypto";
import type { Caller } from "../../access/caller.ts";
import type { Permission } from "../../access/permission.ts";
import type { ErrorCode } from "../../common/error.ts";

/** How a call came in. */
export type CallProtocol = "rest" | "connect" | "grpc" | "grpc-web" | "otlp" | "mcp";

/** `OK`, or what went wrong in gRPC's terms. */
export type CallCode = "OK" | ErrorCode | "CANCELLED" | "DEADLINE_EXCEEDED" | "INTERNAL" | "UNKNOWN";

/** The target of a call, as far as it is known. It contains no secrets: a session is named by a fingerprint of its id. */
export interface CallSubject {
  readonly logger?: string | undefined;
  /** The level asked for; null to clear it. */
  readonly level?: string | null | undefined;
  /** Undefined: the instance that answers. */
  readonly scope?: "fleet" | undefined;
  /** Which instances of the fleet are concerned. Undefined: all. */
  readonly selector?: string | undefined;
  /** Whether a canary was promoted or taken back. */
  readonly promote?: boolean | undefined;
  /** The fleet whose levels an instance stores. */
  readonly fleet?: string | undefined;
  readonly username?: string | undefined;
  readonly session?: string | undefined;
}

/** The HTTP side of a call over plain HTTP. */
export interface HttpCall {
  /** As the caller wrote it, so it may be any word. */
  readonly method: string;
  /** What the path matched, below the base path: `/loggers/{name}`, never the path itself; undefined where nothing is there. */
  readonly route: string | undefined;
  readonly scheme: "http" | "https";
  /** The status of the answer; undefined if the caller had disconnected. */
  readonly status: number | undefined;
}

/** A call that has ended, or a stream that has begun, for metrics and the audit: an entry of the call log. */
export interface CallRecord {
  readonly protocol: CallProtocol;
  /** The operation, one of few values: `GET /loggers/{name}`, `actuator.v3.LoggersService/SetLoggerLevel`, `mcp set_level`. */
  readonly operation: string;
  /** Undefined for RPC, whose result is {@link code}. */
  readonly http?: HttpCall | undefined;
  /** The permission it requires; undefined if it requires none or does not exist. */
  readonly permission: Permission | undefined;
  /** The caller; undefined if none was authenticated. */
  readonly caller: Caller | undefined;
  /** The name of the client certificate that was refused, and why: `orders-ci (CERT_HAS_EXPIRED)`. */
  readonly certificate?: string | undefined;
  readonly address: string | undefined;
  readonly subject: CallSubject;
  readonly code: CallCode;
  /** A stream that changes something has two records: when it has begun, and when it has ended. Undefined for any other call. */
  readonly phase?: "begin" | "end" | undefined;
  /** Why it failed, for programs: `PERMISSION_MISSING`, `HOST_NOT_ALLOWED`; undefined if it is not known. */
  readonly reason?: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly startTime: number;
  /** From its headers to the end of its answer. */
  readonly durationMs: number;
}

/** Called for every call when it has ended, and for a stream that changes something also when it has begun. Never throws. */
export type CallObserver = (record: CallRecord) => void;

/**
 * A fingerprint of a session id for logs: the first 12 hexadecimal digits of its SHA-256. The id itself may be a credential, and
 * what a caller typed may be a credential of another system.
 */
export function sessionFingerprint(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 12);
}
