import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import {
  type GetLoggerResponse,
  type HoldLoggerLevelResponse,
  type HoldLoggerLevelResponse_Held,
  HoldLoggerLevelResponseSchema,
  LoggersService,
  type Override,
  HoldLoggerLevelResponse_Ended_Reason as Reason,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Level } from "../loggers/level.ts";
import { type Connection, printJson } from "./connection.ts";
import { EXIT } from "./error.ts";
import { Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import { type SetOptions, setRequest } from "./loggers-change.ts";
import { printNotices } from "./loggers-show.ts";
import { outcomeLine, stateLine } from "./loggers-text.ts";
import type { GlobalOptions } from "./options.ts";
import { note, print, StatusLine } from "./output.ts";
import { polled } from "./polled.ts";

/**
 * Runs `loggers set --hold`: the level lasts until this process ends. Returns the exit code: that of the signal, 0 if the time
 * of the hold is over, 1 if the logger was configured permanently meanwhile.
 */
export async function holdLevel(
  connection: Connection,
  name: string,
  level: Level,
  options: SetOptions & Pick<GlobalOptions, "timeout">,
): Promise<number> {
  const client = connection(LoggersService);
  const interruption = new Interruption();
  let held: HoldLoggerLevelResponse_Held | undefined;
  let status: StatusLine | undefined;
  let last: { readonly event: HoldLoggerLevelResponse; readonly at: number } | undefined;
  try {
    const stream = liveStream((call) => client.holdLoggerLevel(setRequest(name, level, options), call), {
      timeout: options.timeout,
      signal: interruption.signal,
    });
    for await (const event of stream) {
      last = { event, at: performance.now() };
      if (options.json) printJson(HoldLoggerLevelResponseSchema, event, "one");
      if (event.event.case === "held") {
        held = event.event.value;
        if (!options.json) print(outcomeLine(held.result, held.previousLevel));
        note("Held until Ctrl-C.");
        status = new StatusLine(() => statusText(last!.event, performance.now() - last!.at));
        printNotices(held.notices);
      } else if (event.event.case === "ended") {
        status?.close();
        return endedBy(event.event.value.reason, name);
      }
    }
    return EXIT.ok;
  } catch (error) {
    status?.close();
    const canceled = error instanceof ConnectError && error.code === Code.Canceled;
    if (interruption.exitCode === undefined || !canceled) throw error;
    if (held !== undefined) await confirmRestored(connection, name, held, options.json ? note : print);
    return interruption.exitCode;
  } finally {
    status?.close();
    interruption.close();
  }
}

function statusText({ timeLeft, covered }: HoldLoggerLevelResponse, since: number): string {
  const left = timeLeft === undefined ? "" : `${durationToText(durationMs(timeLeft) - since)} left; `;
  return `held: ${left}Ctrl-C restores${covered ? "; a later temporary level is in force" : ""}`;
}

function endedBy(reason: Reason, name: string): number {
  if (reason === Reason.EXPIRED) {
    note(`The time of the hold is over: ${printable(name)} is as it was before.`);
    return EXIT.ok;
  }
  note(`The hold is over: ${printable(name)} was configured permanently meanwhile.`);
  return EXIT.refused;
}

/** Waits until the server has restored the level, and shows it. If this check fails, the server restores it all the same. */
async function confirmRestored(
  connection: Connection,
  name: string,
  held: HoldLoggerLevelResponse_Held,
  say: (line: string) => void,
): Promise<void> {
  const since = held.result.value?.override?.setTime;
  await sayRestored(connection, name, say, ({ setTime }) => {
    return setTime !== undefined && since !== undefined && timestampMs(setTime) === timestampMs(since);
  });
}

/** Waits until the level that was held on a name is restored, and shows it. `isSame` tells that hold from those of other callers. */
export async function sayRestored(
  connection: Connection,
  name: string,
  say: (line: string) => void,
  isSame: (held: Override) => boolean,
): Promise<void> {
  const restored = await polled(async () => {
    const { result }: GetLoggerResponse = await connection(LoggersService).getLogger({ name });
    const { override } = result.value ?? {};
    return override?.held && isSame(override) ? undefined : `Restored ${stateLine(result)}`;
  }).catch((error) => {
    // A logger that existed only because of the hold is gone with it.
    return error instanceof ConnectError && error.code === Code.NotFound ? `Restored ${printable(name)}.` : undefined;
  });
  say(restored ?? `Released ${printable(name)}; the server restores it.`);
}
