import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { LogsService, type WatchLogsRequestSchema, type WatchLogsResponse } from "../gen/actuator/v3/logs_pb.ts";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import type { Connection } from "./connection.ts";
import { CliError, EXIT } from "./error.ts";
import { failureOf, reasonOf } from "./failure.ts";
import { preferHttp2 } from "./http-version.ts";
import { liveStream } from "./live-stream.ts";
import type { GlobalOptions } from "./options.ts";

/** How long to try to connect again, and how long to wait between two attempts. */
const MAX_AWAY_MS = 60_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/** A stream of log records that survives lost connections. */
export interface LogStream {
  readonly connection: Connection;
  /** Makes the request of each call but for its `after`. */
  readonly request: () => MessageInitShape<typeof WatchLogsRequestSchema>;
  readonly options: Pick<GlobalOptions, "timeout" | "token">;
  /** Whether a connection that is refused means that the process has ended. */
  readonly isProcess: boolean;
  readonly end: AbortSignal;
  /** Takes an event. The next one is read when its promise resolves. */
  take(response: WatchLogsResponse): Promise<void>;
  /** Called when the connection is lost, once until it is there again. */
  lost(failure: CliError): void;
}

/**
 * Follows what loggers write until `end` is aborted. If the connection is lost, the next call continues after the last event.
 *
 * @throws CliError if the server refuses, or is not reached for a minute.
 */
export async function followLogs(stream: LogStream): Promise<void> {
  const { connection, request, options, end, take } = stream;
  let after = "";
  let lostAt: number | undefined;
  let wait = FIRST_DELAY_MS;
  while (!end.aborted) {
    try {
      await preferHttp2(connection, async (best) => {
        const call = { ...request(), ...(after !== "" && { after, recent: 0 }) };
        const events = liveStream((how) => best(LogsService).watchLogs(call, how), {
          timeout: options.timeout,
          signal: end,
        });
        for await (const response of events) {
          [lostAt, wait] = [undefined, FIRST_DELAY_MS];
          await take(response);
          after = response.after;
        }
      });
      throw new CliError(EXIT.unreachable, "the server ended the stream");
    } catch (error) {
      if (end.aborted) return;
      if (reasonOf(error) === "STREAM_TOO_OLD") continue;
      const failure = tailFailure(error, stream);
      if (!(failure instanceof CliError) || failure.exitCode !== EXIT.unreachable || after === "") throw failure;
      if (stream.isProcess && isGone(error)) throw new CliError(EXIT.unreachable, "the process has ended");
      if (lostAt !== undefined && performance.now() - lostAt > MAX_AWAY_MS) throw failure;
      if (lostAt === undefined) stream.lost(failure);
      lostAt ??= performance.now();
      await delay(wait, undefined, { signal: end }).catch(() => {});
      wait = Math.min(2 * wait, MAX_DELAY_MS);
    }
  }
}

function isGone(error: unknown): boolean {
  const { code = "" } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" || code === "ENOENT";
}

/** Explains why what loggers write cannot be followed. */
export function tailFailure(
  error: unknown,
  { connection, options }: Pick<LogStream, "connection" | "options">,
): unknown {
  if (!(error instanceof ConnectError)) return error;
  const { url, socketPath } = connection.address;
  const [info] = error.findDetails(ErrorInfoSchema);
  if (info?.reason === "PERMISSION_MISSING" && info.metadata.permission === "logs:read") {
    return new CliError(EXIT.refused, `reading what loggers write must be granted: ${grantHint(socketPath, options)}`);
  }
  return failureOf(error, { ...options, url });
}

function grantHint(socketPath: string | undefined, { token }: LogStream["options"]): string {
  if (token) {
    return "the token lacks the permission logs:read, which * does not include; make one with connect-actuator token create --name <name> --permission '*' logs:read";
  }
  const option = 'access: { anonymous: ["*", "logs:read"] }';
  if (socketPath === undefined) return `give a token with the permission logs:read, or set the option ${option}`;
  return `start the process with ACTUATOR_ACCESS_ANONYMOUS='*,logs:read' in its environment or, if it creates its actuator itself, with the option ${option}`;
}
