import { durationFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { nodeTls } from "../common/node-http.ts";
import { type Logger, LoggersService } from "../gen/actuator/v3/loggers_pb.ts";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { levelFromProto, levelToProto } from "../http/rpc/logger-proto.ts";
import type { Level } from "../loggers/level.ts";
import { clientTransport } from "../peers/client-transport.ts";
import type { FleetInstance, FleetOptions } from "./options.ts";

const CALL_TIMEOUT_MS = 5_000;
/** How many changes of a logger are searched for one. */
const MAX_CHANGES = 200;

/** A logger of an instance. */
export interface RemoteLogger {
  readonly configured: Level | undefined;
  readonly effective: Level;
  readonly baseline: Level | undefined;
  /** Undefined if the application of the instance configured the level. */
  readonly override: RemoteOverride | undefined;
}

/** An override in an instance. Times are milliseconds since the epoch, on the clock of the instance. */
export interface RemoteOverride {
  readonly setTime: number;
  readonly expireTime: number | undefined;
  readonly reason: string;
}

/** Reads a logger of an answer. An unknown level, of a later release, counts as INFO. */
export function remoteLogger(logger: Logger): RemoteLogger {
  const { override } = logger;
  return {
    configured: levelFromProto(logger.configuredLevel),
    effective: levelFromProto(logger.effectiveLevel) ?? "INFO",
    baseline: levelFromProto(logger.baselineLevel),
    override: override && {
      setTime: override.setTime === undefined ? 0 : timestampMs(override.setTime),
      expireTime: override.expireTime && timestampMs(override.expireTime),
      reason: override.reason,
    },
  };
}

/** The outcome of a change in an instance. */
export interface Outcome {
  /** Undefined if the instance has a group of this name. */
  readonly logger: RemoteLogger | undefined;
  readonly revision: bigint;
}

/** Calls one instance. */
export class InstanceClient {
  readonly #client: Client<typeof LoggersService>;

  constructor({ url, token }: FleetInstance, { ca }: Pick<FleetOptions, "ca">) {
    const tls = ca === undefined ? undefined : { ca: [...nodeTls().rootCertificates, ca] };
    const transport = clientTransport({ url: url.replace(/\/+$/, ""), token, tls });
    this.#client = createClient(LoggersService, transport);
  }

  watch(signal: AbortSignal) {
    return this.#client.watchLoggers({}, { signal, timeoutMs: 0 });
  }

  /** Sets a level for `ttlMs` milliseconds; 0 has no end. */
  async set(name: string, level: Level, ttlMs: number, reason: string): Promise<Outcome> {
    const request = { name, level: levelToProto(level), reason, ttl: durationFromMs(ttlMs) };
    return outcomeOf(await this.#client.setLoggerLevel(request, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  async clear(name: string, reason: string): Promise<Outcome> {
    return outcomeOf(await this.#client.clearLoggerLevel({ name, reason }, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  async restore(name: string, reason: string): Promise<Outcome> {
    return outcomeOf(await this.#client.restoreLoggerLevel({ name, reason }, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  /** Whether the process has the level that was set at this time in its history; another process has not. */
  async remembers(name: string, setTime: number): Promise<boolean> {
    const query = { name, pageSize: MAX_CHANGES };
    const { changes } = await this.#client.listLevelChanges(query, { timeoutMs: CALL_TIMEOUT_MS });
    return changes.some(({ override }) => override?.setTime !== undefined && timestampMs(override.setTime) === setTime);
  }
}

type Changed = { readonly case: "logger"; readonly value: Logger } | { readonly case: "group" | undefined };

function outcomeOf(response: {
  readonly result: Changed | { readonly case: string | undefined };
  readonly revision: bigint;
}): Outcome {
  const result = response.result as Changed;
  return { logger: result.case === "logger" ? remoteLogger(result.value) : undefined, revision: response.revision };
}

/** Returns the reason in the answer of an actuator, such as INVALID_TTL. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}

const TRANSIENT = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled, Code.Aborted, Code.Unknown]);

/** Whether the same call may succeed later without any change. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return TRANSIENT.has(error.code) || reasonOf(error) === "TOO_MANY_REQUESTS";
}

/** Describes an error for an operator in a few words, without addresses and control characters. */
export function errorText(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  if (typeof cause?.code === "string") return cause.code;
  const message = error instanceof ConnectError ? error.rawMessage || Code[error.code] : String(error);
  return message.replace(/\p{C}+/gu, " ").slice(0, 200);
}
