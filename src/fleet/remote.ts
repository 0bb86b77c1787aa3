import { rootCertificates } from "node:tls";
import { durationFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { type Logger, LoggersService } from "../gen/actuator/v3/loggers_pb.ts";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { levelToProto } from "../http/rpc/level-proto.ts";
import type { Level } from "../loggers/level.ts";
import { clientTransport } from "./client-transport.ts";
import type { FleetInstance, FleetOptions } from "./options.ts";
import { type RemoteLogger, remoteLogger } from "./remote-logger.ts";

const CALL_TIMEOUT_MS = 5_000;
/** How far back the history of one logger is read. */
const HISTORY = 200;

/** What a change led to at an instance. */
export interface Outcome {
  /** Left out where the instance has a group of the name. */
  readonly logger: RemoteLogger | undefined;
  readonly revision: bigint;
}

/** The calls to one instance. */
export class Remote {
  readonly #client: Client<typeof LoggersService>;

  constructor({ url, token }: FleetInstance, { ca }: Pick<FleetOptions, "ca">) {
    const tls = ca === undefined ? undefined : { ca: [...rootCertificates, ca] };
    const transport = clientTransport({ url: url.replace(/\/+$/, ""), token, tls });
    this.#client = createClient(LoggersService, transport);
  }

  watch(signal: AbortSignal) {
    return this.#client.watchLoggers({}, { signal, timeoutMs: 0 });
  }

  /** `ttl` in milliseconds, 0 for ever; undefined: as the instance is configured. */
  async set(name: string, level: Level, ttl: number | undefined, reason: string): Promise<Outcome> {
    const request = {
      name,
      level: levelToProto(level),
      reason,
      ...(ttl !== undefined && { ttl: durationFromMs(ttl) }),
    };
    return outcome(await this.#client.setLoggerLevel(request, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  async clear(name: string, reason: string): Promise<Outcome> {
    return outcome(await this.#client.clearLoggerLevel({ name, reason }, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  async restore(name: string, reason: string): Promise<Outcome> {
    return outcome(await this.#client.restoreLoggerLevel({ name, reason }, { timeoutMs: CALL_TIMEOUT_MS }));
  }

  /** Whether the process there remembers that this level was set at this time: another process would not. */
  async remembers(name: string, setTime: number): Promise<boolean> {
    const query = { name, pageSize: HISTORY };
    const { changes } = await this.#client.listLevelChanges(query, { timeoutMs: CALL_TIMEOUT_MS });
    return changes.some(({ override }) => override?.setTime !== undefined && timestampMs(override.setTime) === setTime);
  }
}

type Changed = { readonly case: "logger"; readonly value: Logger } | { readonly case: "group" | undefined };

function outcome(response: {
  readonly result: Changed | { readonly case: string | undefined };
  readonly revision: bigint;
}): Outcome {
  const result = response.result as Changed;
  return { logger: result.case === "logger" ? remoteLogger(result.value) : undefined, revision: response.revision };
}

/** The stable reason of an error that an actuator answered, such as INVALID_TTL. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorInfoSchema)[0]?.reason : undefined;
}

const PASSING = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled, Code.Aborted, Code.Unknown]);

/** Whether the same call may succeed later, without anybody changing anything. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return PASSING.has(error.code) || reasonOf(error) === "TOO_MANY_REQUESTS";
}

/** An error in a few words for an operator, without addresses and controls. */
export function words(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  if (typeof cause?.code === "string") return cause.code;
  const message = error instanceof ConnectError ? error.rawMessage || Code[error.code] : String(error);
  return message.replace(/\p{C}+/gu, " ").slice(0, 200);
}
