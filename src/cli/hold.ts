import { setTimeout as delay } from "node:timers/promises";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import type { Level } from "../gen/actuator/v3/level_pb.ts";
import {
  type GetLoggerResponse,
  type HoldLoggerLevelResponse,
  type HoldLoggerLevelResponse_Held,
  HoldLoggerLevelResponseSchema,
  LoggersService,
  HoldLoggerLevelResponse_Ended_Reason as Reason,
} from "../gen/actuator/v3/loggers_pb.ts";
import type { Connection } from "./connection.ts";
import { EXIT } from "./exit-code.ts";
import type { GlobalOptions } from "./global-options.ts";
import { Interruption } from "./interruption.ts";
import { liveStream } from "./live-stream.ts";
import { noteUnknown, outcomeLine, type SetOptions, setRequest, stateLine } from "./logger-change.ts";
import { note, print, printJson } from "./output.ts";
import { printable } from "./printable.ts";
import { StatusLine } from "./status-line.ts";

/** How often and how long apart to look whether the server has given the level back; it does so at once. */
const LOOKS = 40;
const LOOK_EVERY_MS = 50;

/**
 * `loggers set --hold`: the level lasts until Ctrl-C, and whatever ends this process ends it too. Answers the exit code:
 * that of the signal, 0 where the time of the hold is over, 1 where somebody else has configured the logger.
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
        if (!options.json) print(outcomeLine(held));
        note("Held until Ctrl-C.");
        status = new StatusLine(() => statusText(last!.event, performance.now() - last!.at));
        await noteUnknown(connection, held, "; one that comes gets this level");
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
  note(`The hold is over: somebody configured ${printable(name)} for good, and that stays.`);
  return EXIT.refused;
}

/** Looks until the server has let go, and shows what the level is then. Failing here, the server lets go all the same. */
async function confirmRestored(
  connection: Connection,
  name: string,
  held: HoldLoggerLevelResponse_Held,
  say: (line: string) => void,
): Promise<void> {
  const since = held.result.value?.override?.setTime;
  try {
    for (let look = 0; look < LOOKS; look++) {
      const { result }: GetLoggerResponse = await connection(LoggersService).getLogger({ name });
      const { override } = result.value ?? {};
      const same =
        override?.setTime !== undefined && since !== undefined && timestampMs(override.setTime) === timestampMs(since);
      if (!(override?.held && same)) return say(`Restored ${stateLine(result)}`);
      await delay(LOOK_EVERY_MS);
    }
  } catch (error) {
    // A logger that existed for the hold only is gone with it.
    if (error instanceof ConnectError && error.code === Code.NotFound) return say(`Restored ${printable(name)}.`);
  }
  say(`Let go of ${printable(name)}; the server restores it.`);
}
