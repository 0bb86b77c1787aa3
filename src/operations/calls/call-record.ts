import { createHash } from "node:crypto";
import type { Caller } from "../../access/caller.ts";
import type { Permission } from "../../access/permission.ts";
import type { ErrorCode } from "../../common/error.ts";

/** How a call came in. */
export type CallProtocol = "rest" | "connect" | "grpc" | "grpc-web" | "otlp";

/** `OK`, or what went wrong in gRPC's terms. */
export type CallCode = "OK" | ErrorCode | "CANCELLED" | "DEADLINE_EXCEEDED" | "INTERNAL" | "UNKNOWN";

/** What a call was about, as far as it got. Nothing here is a secret: a session stands here by a fingerprint of its id. */
export interface CallSubject {
  readonly logger?: string | undefined;
  /** The level asked for; null to clear it. */
  readonly level?: string | null | undefined;
  readonly username?: string | undefined;
  readonly session?: string | undefined;
}

/** What a call was in terms of HTTP, where it came over plain HTTP. */
export interface HttpCall {
  /** As the caller wrote it, so any word at all. */
  readonly method: string;
  /** What the path matched, below the base path: `/loggers/{name}`, never the path itself; undefined where nothing is there. */
  readonly route: string | undefined;
  readonly scheme: "http" | "https";
  /** What was answered; undefined where whoever asked had gone before. */
  readonly status: number | undefined;
}

/** A call that is over, for whoever keeps books: metrics and the audit. */
export interface CallRecord {
  readonly protocol: CallProtocol;
  /** What was called, one of few values: `GET /loggers/{name}`, `actuator.v3.LoggersService/SetLoggerLevel`. */
  readonly operation: string;
  /** Undefined for RPC, which says by {@link code} how it went. */
  readonly http?: HttpCall | undefined;
  /** What it needs; undefined where it needs none, and for a path or method that is not there. */
  readonly permission: Permission | undefined;
  /** Who called; undefined where nobody was let in, or nobody had to be. */
  readonly caller: Caller | undefined;
  readonly address: string | undefined;
  readonly subject: CallSubject;
  readonly code: CallCode;
  /** Why it failed, for programs: `PERMISSION_MISSING`, `HOST_NOT_ALLOWED`; undefined where nobody says. */
  readonly reason?: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly startTime: number;
  /** From its headers to the end of its answer, in milliseconds. */
  readonly durationMs: number;
}

/** Hears of every call when it is over. Never throws. */
export type CallObserver = (record: CallRecord) => void;

/**
 * What stands for the id of a session in books, as whoever asked wrote it: the first 12 hexadecimal digits of its SHA-256. The
 * id itself may be a credential, and what somebody typed may be one of another system.
 */
export function sessionFingerprint(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 12);
}
