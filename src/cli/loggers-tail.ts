import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import {
  WatchLogsResponse_Dropped_Reason as DropReason,
  type LogRecords,
  type WatchLogsResponse_RaiseEnded as RaiseEnded,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
  type WatchLogsResponse_Started as Started,
  type WatchLogsResponse,
  type WatchLogsResponse_Dropped,
} from "../gen/actuator/v3/logs_pb.ts";
import { levelToProto } from "../http/rpc/logger-proto.ts";
import type { Level } from "../loggers/level.ts";
import { CliError, EXIT } from "./error.ts";
import { endOf, Interruption } from "./interruption.ts";
import { recordFormat, timedTexts } from "./log-record-text.ts";
import { followLogs } from "./log-stream.ts";
import { sayRestored } from "./loggers-hold.ts";
import { printNotices } from "./loggers-show.ts";
import { levelName } from "./loggers-text.ts";
import type { GlobalOptions, Instance } from "./options.ts";
import { countText, listText, note } from "./output.ts";
import { printSlowly, RecordMerge } from "./record-output.ts";

/** How many names a notice lists. */
export const MAX_NAMES = 5;

/** The options of `loggers tail`. */
export interface TailOptions extends Pick<GlobalOptions, "timeout" | "token" | "json"> {
  readonly level?: Level;
  readonly raise?: Level;
  readonly onlyHere?: boolean;
  /** Milliseconds. */
  readonly for?: number;
  readonly reason?: string;
  readonly grep?: string;
  readonly field?: Readonly<Record<string, string>>;
  readonly recent?: number;
  readonly maxRate?: number;
  readonly pretty?: boolean;
}

/**
 * Runs `loggers tail`: shows what loggers write until a signal arrives, the reader of the output leaves, or the time is over; then levels
 * that it has raised are restored. Returns the exit code.
 */
export async function tailLoggers(
  instances: readonly Instance[],
  names: readonly string[],
  options: TailOptions,
): Promise<number> {
  const interruption = new Interruption();
  const end = endOf(interruption, options.for);
  const merge = instances.length > 1 ? new RecordMerge(end) : undefined;
  const tails = instances.map((instance) => new Tail(instance, names, options, end, merge));
  try {
    const exitCodes = await Promise.all(tails.map((tail) => tail.run()));
    await merge?.close();
    await Promise.all(tails.map((tail) => tail.sayRestored()));
    return interruption.exitCode ?? Math.max(...exitCodes);
  } finally {
    merge?.stop();
    interruption.close();
  }
}

/** What the loggers of one instance write. */
class Tail {
  readonly #instance: Instance;
  readonly #names: readonly string[];
  readonly #options: TailOptions;
  readonly #end: AbortSignal;
  readonly #merge: RecordMerge | undefined;
  readonly #deadline: number;
  #started: Started | undefined;
  /** The levels that it has raised now; undefined if its raise has ended. */
  #raised: Started["raised"] | undefined = [];

  constructor(
    instance: Instance,
    names: readonly string[],
    options: TailOptions,
    end: AbortSignal,
    merge: RecordMerge | undefined,
  ) {
    this.#instance = instance;
    this.#names = names;
    this.#options = options;
    this.#end = end;
    this.#merge = merge;
    this.#deadline = performance.now() + (options.for ?? 0);
  }

  /** Resolves to the exit code when it has ended. A failure ends the command, unless there are other instances. */
  async run(): Promise<number> {
    const { connection, isProcess, label } = this.#instance;
    try {
      await followLogs({
        connection,
        request: () => this.#request(),
        options: this.#options,
        isProcess,
        end: this.#end,
        take: (response) => this.#take(response),
        lost: ({ message }) => this.#note(`The connection is lost, and tried again: ${message}.`),
      });
      return EXIT.ok;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      note(`connect-actuator: ${label === undefined ? "" : `${printable(label)}: `}${error.message}`);
      return error.exitCode;
    }
  }

  /** Says that the levels are restored, as soon as they are. */
  async sayRestored(): Promise<void> {
    const raised = this.#raised ?? [];
    this.#raised = undefined;
    const say = (line: string) => this.#note(line);
    const shown = raised.slice(0, MAX_NAMES);
    await Promise.all(shown.map(({ name }) => sayRestored(this.#instance.connection, name, say, () => true)));
    if (raised.length > shown.length) say(`Restored ${raised.length - shown.length} more.`);
  }

  #request() {
    const {
      level,
      raise,
      onlyHere = false,
      reason = "",
      grep = "",
      field = {},
      recent = 0,
      maxRate = 0,
    } = this.#options;
    const left =
      this.#options.for === undefined ? undefined : Math.max(1, Math.ceil(this.#deadline - performance.now()));
    return {
      names: [...this.#names],
      level: levelToProto(level),
      contains: grep,
      fields: { ...field },
      recent,
      maxPerSecond: maxRate,
      ...(raise !== undefined &&
        this.#raised !== undefined && {
          raise: {
            level: levelToProto(raise),
            onlyHere,
            reason,
            ...(left !== undefined && { ttl: durationFromMs(left) }),
          },
        }),
    };
  }

  async #take({ event }: WatchLogsResponse): Promise<void> {
    if (event.case === "records") await this.#print(event.value);
    else if (event.case === "started") this.#start(event.value);
    else if (event.case === "dropped") this.#note(droppedText(event.value));
    else if (event.case === "raiseEnded") this.#raiseEnded(event.value);
  }

  async #print({ records }: LogRecords): Promise<void> {
    const texts = timedTexts(records, recordFormat(this.#options), this.#instance.label);
    if (this.#merge !== undefined) await this.#merge.add(texts);
    else await printSlowly(texts.map(({ text }) => text).join(""), this.#end);
  }

  #start(started: Started): void {
    const isFirst = this.#started === undefined;
    this.#started = started;
    if (this.#raised !== undefined) this.#raised = started.raised;
    if (!isFirst) this.#note("Connected again.");
    else {
      this.#note(showingText(started.loggers));
      if (started.unheardKinds.length > 0) this.#note(unheardText(started.unheardKinds));
    }
    this.#sayRaised(started);
    if (isFirst) printNotices(started.notices, (line) => this.#note(line));
  }

  #sayRaised(started: Started): void {
    if (this.#options.raise !== undefined && this.#raised !== undefined) this.#note(this.#raisedText(started));
  }

  #raisedText({ raised, timeLeft }: Started): string {
    const { raise, onlyHere } = this.#options;
    const limit = timeLeft === undefined ? "" : `for ${durationToText(durationMs(timeLeft))} or `;
    const until = `${limit}until Ctrl-C`;
    if (onlyHere) return `${raise} is shown here only, ${until}; no level changes.`;
    if (raised.length === 0) return `Nothing is raised to ${raise}.`;
    const names = raised.map(({ name, previousLevel }) => {
      return `${printable(name)} (before ${levelName(previousLevel) ?? "inherited"})`;
    });
    return `Raised to ${raise} ${until}: ${listText(names, MAX_NAMES)}`;
  }

  #raiseEnded({ reason, maxPerSecond }: RaiseEnded): void {
    const raised = this.#raised;
    this.#raised = undefined;
    const { raise, onlyHere } = this.#options;
    const isChanged = !onlyHere && raised?.length !== 0;
    if (reason === RaiseEndReason.VOLUME) {
      const limit = maxPerSecond.toLocaleString("en");
      this.#note(
        `Raising to ${raise} has ended: it made more than ${limit} records a second.${isChanged ? AS_BEFORE : ""} For less, name fewer loggers or raise a less verbose level; connect-actuator loggers measure shows what each would add.`,
      );
    } else this.#note(raiseEndText(raise, reason, isChanged));
  }

  #note(line: string): void {
    const { label } = this.#instance;
    note(label === undefined ? line : `${printable(label)}: ${line}`);
  }
}

const AS_BEFORE = " Levels are as they were before.";

/** Why a raise has ended before its stream; `isChanged` says whether it had changed levels. */
export function raiseEndText(raise: Level | undefined, reason: RaiseEndReason, isChanged = true): string {
  const what = `Raising to ${raise} has ended`;
  if (reason === RaiseEndReason.OVERRULED) return `${what}: another level was configured meanwhile.`;
  return `${what}: its time is over.${isChanged ? AS_BEFORE : ""}`;
}

/** How many loggers are followed. */
export function showingText(loggers: number): string {
  return `Showing what ${countText(loggers, "logger")} write${loggers === 1 ? "s" : ""}.`;
}

/** Which libraries cannot be followed. */
export function unheardText(kinds: readonly string[]): string {
  return `Not heard: ${kinds.map(printable).join(", ")}.`;
}

const WHY_DROPPED: Readonly<Record<number, string>> = {
  [DropReason.SLOW_READER]: "not read in time",
  [DropReason.RATE]: "too many in a second (--max-rate), or more than the server keeps",
  [DropReason.GAP]: "written while there was no connection, or no longer kept",
  [DropReason.REDACTION]: "the application's function for redaction failed",
};

/** What is missing, and why. */
export function droppedText({ reason, count }: WatchLogsResponse_Dropped): string {
  const why = WHY_DROPPED[reason] ?? "the server does not say why";
  if (count === 0n) return `Records may be missing: ${why}.`;
  return `${countText(count, "record")} ${count === 1n ? "is" : "are"} missing: ${why}.`;
}
