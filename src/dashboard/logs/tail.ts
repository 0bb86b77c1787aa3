import { effect, signal } from "@preact/signals";
import { Level } from "../../gen/actuator/v3/level_pb.ts";
import {
  type LogRecord,
  type WatchLogsResponse_RaiseEnded as RaiseEnded,
  WatchLogsResponse_RaiseEnded_Reason as RaiseEndReason,
  type WatchLogsResponse_Started as Started,
  type WatchLogsResponse,
} from "../../gen/actuator/v3/logs_pb.ts";
import type { Fault } from "../link/messages.ts";
import { levelName } from "../state/levels.ts";
import { loggers, onLoggersChange } from "../state/loggers.ts";
import { noteOwn } from "../state/own-changes.ts";
import { connection, link, onLink } from "../state/server.ts";
import { inheritedLevel, levelsBefore, levelWithoutRaise } from "./baseline.ts";
import { type Chunk, type Line, Lines, type Notice } from "./lines.ts";
import { type Conditions, meets } from "./match.ts";
import { droppedNotice, information, raiseEndedNotice, reconnectedNotice, warning } from "./notices.ts";
import { timeOf } from "./record.ts";
import { Volume } from "./volume.ts";

/** Lines that a tail keeps. */
export const MAX_LINES = 5_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
const OVERRULED_DELAY_MS = 500;
/** So many new lines are a flood: the eye cannot follow it, and drawing takes its time. */
const FLOOD_LINES = 50;
const FLOOD_DRAW_MS = 150;

/** A level to raise for as long as a tail is open. */
export interface RaiseRequest {
  readonly level: Level;
  /** At most so long; undefined: as long as the server allows. */
  readonly ttlMs?: number | undefined;
  readonly reason?: string | undefined;
  /** Whether the application's own destinations do without the additional records. */
  readonly onlyHere?: boolean | undefined;
}

/** What a tail shows. Without names, all loggers. */
export interface TailQuery extends Conditions {
  /** How many of the latest records to begin with, if the server still keeps them. */
  readonly recent?: number | undefined;
}

/** A raise in force. */
export interface RaiseInForce {
  readonly request: RaiseRequest;
  /** The loggers whose level it set, with the level to which each returns; UNSPECIFIED if that is not known. */
  readonly raised: readonly { readonly name: string; readonly returnsTo: Level }[];
  /** When it ends at the latest, in milliseconds since the epoch. */
  readonly until: number | undefined;
}

export type TailStatus =
  | { readonly is: "opening" }
  | { readonly is: "open"; readonly since: number }
  | { readonly is: "lost"; readonly since: number }
  /** The server refuses it. */
  | { readonly is: "refused"; readonly fault: Fault }
  | { readonly is: "closed" };

const openTails = new Set<LogTail>();

// Another caller may see other records, and the levels that the former one held are restored.
onLink(() => {
  for (const tail of openTails) tail.reopen();
});

/** What loggers write, live: records and what happened to the tail, in order. It survives lost connections. */
export class LogTail {
  readonly status = signal<TailStatus>({ is: "closed" });
  readonly started = signal<Started | undefined>(undefined);
  /** The lines, oldest first; while it is paused, those of that moment. */
  readonly chunks = signal<readonly Chunk[]>([]);
  /** How many records were received since it is paused. */
  readonly newer = signal(0);
  readonly isPaused = signal(false);
  readonly raise = signal<RaiseInForce | undefined>(undefined);
  /** Whether records come faster than the eye can follow. */
  readonly isFlood = signal(false);
  /** How many records were received; moves when they are shown. */
  readonly received = signal(0);
  readonly volume = new Volume();
  readonly #lines = new Lines(MAX_LINES);
  #query: TailQuery = { names: [] };
  #raiseRequest: RaiseRequest | undefined;
  /** When the raise ends at the latest; it survives lost connections. */
  #raiseEnd: number | undefined;
  /** The loggers that are raised, with the level in effect before. */
  #before: ReadonlyMap<string, Level> = new Map();
  readonly #withoutRaise = new Map<string, Level | undefined>();
  #stop: (() => void) | undefined;
  #after = "";
  #wait = FIRST_DELAY_MS;
  #lostAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame: number | undefined;
  #pausedAt = 0;
  #drawnAt = 0;
  #offs: (() => void)[] = [];

  /** How many older records gave way to newer ones. */
  get gone(): number {
    return this.#lines.gone;
  }

  /** The raise that is asked for or in force. */
  get raiseRequest(): RaiseRequest | undefined {
    return this.#raiseRequest;
  }

  get query(): TailQuery {
    return this.#query;
  }

  /** Begins, continues, or shows something else from now on. A raise in force ends unless it is given again. */
  open(query: TailQuery, raise?: RaiseRequest): void {
    if (!sameConditions(query, this.#query)) {
      this.#after = "";
      this.#lines.keep((record) => meets(record, query, loggers.peek().groups));
      this.volume.clear();
      for (const { lines } of this.#lines.snapshot()) for (const line of lines) this.#count(line, Date.now());
      this.resume();
    }
    this.#query = query;
    this.#setRaise(raise);
    this.#lostAt = undefined;
    openTails.add(this);
    if (this.#offs.length === 0) {
      this.#offs = [
        onLoggersChange(() => this.#loggersChanged()),
        effect(() => {
          if (connection.value.status === "live" && this.#lostAt !== undefined) this.#retryIn(0);
        }),
      ];
    }
    this.status.value = { is: "opening" };
    this.#connect();
  }

  /** Begins anew on the present connection. */
  reopen(): void {
    this.#after = "";
    this.#stop = undefined;
    this.open(this.#query);
  }

  /** Raises the level on the present names, or restores it. */
  raiseTo(raise: RaiseRequest | undefined): void {
    this.open(this.#query, raise);
  }

  /** Ends it; a raised level is restored. Lines stay. */
  close(): void {
    openTails.delete(this);
    this.#disconnect();
    this.#setRaise(undefined);
    for (const off of this.#offs) off();
    this.#offs = [];
    this.status.value = { is: "closed" };
  }

  /** Holds what is shown; records are received on. */
  pause(): void {
    if (this.isPaused.value) return;
    this.chunks.value = this.#lines.snapshot();
    this.#pausedAt = this.#lines.records;
    this.newer.value = 0;
    this.isPaused.value = true;
  }

  resume(): void {
    this.isPaused.value = false;
    this.newer.value = 0;
    this.#show();
  }

  #setRaise(raise: RaiseRequest | undefined): void {
    const isNew = raise !== undefined && raise !== this.#raiseRequest;
    if (isNew || (raise === undefined && this.#raiseRequest !== undefined)) {
      for (const name of levelsBefore(this.#query.names, loggers.peek()).keys()) noteOwn(name);
    }
    if (isNew) this.#raiseEnd = raise.ttlMs === undefined ? undefined : Date.now() + raise.ttlMs;
    if (raise === undefined) {
      this.#before = new Map();
      this.raise.value = undefined;
    } else this.#before = new Map([...levelsBefore(this.#query.names, loggers.peek()), ...this.#before]);
    this.#withoutRaise.clear();
    this.#raiseRequest = raise;
  }

  #connect(): void {
    clearTimeout(this.#timer);
    const { names, level = Level.UNSPECIFIED, contains = "", fields = {}, recent = 0 } = this.#query;
    const raise = this.#raiseRequest;
    const left = this.#raiseEnd === undefined ? undefined : Math.max(1_000, this.#raiseEnd - Date.now());
    const input = {
      names: [...names],
      level,
      contains,
      fields: { ...fields },
      ...(this.#after === "" ? { recent } : { after: this.#after }),
      ...(raise !== undefined && {
        raise: {
          level: raise.level,
          onlyHere: raise.onlyHere ?? false,
          reason: raise.reason ?? "",
          ...(left !== undefined && { ttl: { seconds: BigInt(Math.round(left / 1_000)), nanos: 0 } }),
        },
      }),
    };
    const stop: () => void = link.stream("logs", "watchLogs", input, {
      message: (message) => this.#stop === stop && this.#take(message),
      end: (fault) => this.#stop === stop && this.#ended(fault),
    });
    // A raise that goes on must not be restored in between.
    this.#stop?.();
    this.#stop = stop;
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    this.#stop?.();
    this.#stop = undefined;
  }

  #take({ event, after }: WatchLogsResponse): void {
    if (after !== "") this.#after = after;
    if (event.case === "records") this.#addRecords(event.value.records);
    else if (event.case === "dropped") this.#say(droppedNotice(event.value));
    else if (event.case === "started") this.#begin(event.value);
    else if (event.case === "raiseEnded") this.#raiseEnded(event.value);
  }

  #raiseEnded(ended: RaiseEnded): void {
    const { raised } = this.raise.value ?? { raised: [] };
    const say = (by = "") => this.#say(raiseEndedNotice(ended, levelName(commonLevel(raised)), by));
    this.#setRaise(undefined);
    // Who overruled it comes with the loggers, which are on their way.
    if (ended.reason === RaiseEndReason.OVERRULED) setTimeout(() => say(actorOf(raised[0]?.name)), OVERRULED_DELAY_MS);
    else say();
  }

  #begin(started: Started): void {
    const away = this.#lostAt;
    this.#lostAt = undefined;
    this.#wait = FIRST_DELAY_MS;
    this.started.value = started;
    this.status.value = { is: "open", since: Date.now() };
    const request = this.#raiseRequest;
    if (away !== undefined) {
      this.#say(reconnectedNotice(Date.now() - away, request === undefined ? "" : levelName(request.level)));
    }
    for (const { code, message } of started.notices) if (code !== "LOGGER_UNKNOWN") this.#say(information(message));
    if (request === undefined) return;
    const raised = started.raised.map(({ name, previousLevel }) => ({
      name,
      returnsTo: this.#before.get(name) || previousLevel || inheritedLevel(name, loggers.peek()),
    }));
    this.#before = new Map(
      raised.map(({ name, returnsTo }) => [name, returnsTo] as const).filter(([, level]) => level > 0),
    );
    this.#withoutRaise.clear();
    const { timeLeft } = started;
    const until = timeLeft && Date.now() + Number(timeLeft.seconds) * 1_000 + timeLeft.nanos / 1e6;
    this.raise.value = raised.length === 0 && !request.onlyHere ? undefined : { request, raised, until };
    if (this.raise.value === undefined) this.#raiseRequest = undefined;
  }

  #ended(fault: Fault | undefined): void {
    this.#stop = undefined;
    if (fault?.reason === "STREAM_TOO_OLD") this.#connect();
    else if (fault === undefined || isPassing(fault)) {
      this.#lostAt ??= Date.now();
      if (this.status.value.is !== "lost") this.status.value = { is: "lost", since: this.#lostAt };
      this.#retryIn(this.#wait);
      this.#wait = Math.min(2 * this.#wait, MAX_DELAY_MS);
    } else if (this.#raiseRequest !== undefined && fault.code !== "UNAUTHENTICATED") {
      // Only the raise may be refused; the records can still be read.
      this.#setRaise(undefined);
      this.#say(warning(`Not raised: ${fault.message}`));
      this.#connect();
    } else {
      this.#setRaise(undefined);
      this.status.value = { is: "refused", fault };
    }
  }

  #retryIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Otherwise the next attempt is made as soon as the connection is live.
      if (this.#stop === undefined && connection.peek().status !== "offline") this.#connect();
    }, ms);
  }

  #addRecords(records: readonly LogRecord[]): void {
    const now = Date.now();
    for (const record of records) {
      const isAdded = record.onlyHere || this.#isAdded(record);
      this.#lines.add({ record, isAdded });
      this.#count({ record, isAdded }, now);
    }
    this.#show();
  }

  #count({ record, isAdded = false }: Omit<Line, "id">, now: number): void {
    if (record !== undefined) this.volume.add(record.level, isAdded, timeOf(record), now);
  }

  #loggersChanged(): void {
    this.#withoutRaise.clear();
    const { raised = [] } = this.raise.peek() ?? {};
    if (raised.every(({ returnsTo }) => returnsTo > 0)) return;
    // The level was raised before the loggers were known.
    const known = raised.map(({ name, returnsTo }) => ({
      name,
      returnsTo: returnsTo || inheritedLevel(name, loggers.peek()),
    }));
    this.#before = new Map(
      known.map(({ name, returnsTo }) => [name, returnsTo] as const).filter(([, level]) => level > 0),
    );
    this.raise.value = { ...this.raise.peek()!, raised: known };
  }

  #isAdded({ logger, level }: LogRecord): boolean {
    if (this.#before.size === 0) return false;
    if (!this.#withoutRaise.has(logger)) {
      this.#withoutRaise.set(logger, levelWithoutRaise(logger, this.#before, loggers.peek()));
    }
    const without = this.#withoutRaise.get(logger);
    return without !== undefined && level > without;
  }

  #say(notice: Notice): void {
    this.#lines.add({ notice });
    this.#show();
  }

  /** Shows what was received with the next frame, and a flood seven times a second; in a hidden tab, when it is seen again. */
  #show(): void {
    this.#frame ??= requestAnimationFrame((time) => {
      this.#frame = undefined;
      const isFlood = this.#lines.records - this.received.peek() > FLOOD_LINES;
      if (isFlood && time - this.#drawnAt < FLOOD_DRAW_MS) return this.#show();
      this.#drawnAt = time;
      this.isFlood.value = isFlood;
      if (this.isPaused.value) this.newer.value = this.#lines.records - this.#pausedAt;
      else this.chunks.value = this.#lines.snapshot();
      this.received.value = this.#lines.records;
    });
  }
}

function sameConditions(one: TailQuery, other: TailQuery): boolean {
  const key = ({ names, level = 0, contains = "", fields = {} }: TailQuery) =>
    JSON.stringify([names, level, contains, Object.entries(fields).sort()]);
  return key(one) === key(other);
}

const PASSING = new Set(["UNAVAILABLE", "UNKNOWN", "INTERNAL", "DEADLINE_EXCEEDED", "CANCELED", "ABORTED"]);

function isPassing({ code, reason }: Fault): boolean {
  return PASSING.has(code) || (code === "RESOURCE_EXHAUSTED" && reason !== "TOO_MANY_TAILS");
}

/** The level to which all return; UNSPECIFIED if they differ. */
export function commonLevel(raised: RaiseInForce["raised"]): Level {
  const [first] = raised;
  const isCommon = first !== undefined && raised.every(({ returnsTo }) => returnsTo === first.returnsTo);
  return isCommon ? first.returnsTo : Level.UNSPECIFIED;
}

function actorOf(name: string | undefined): string {
  return loggers.peek().loggers.get(name ?? "")?.override?.actor ?? "";
}
