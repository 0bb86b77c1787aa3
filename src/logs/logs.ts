import { ActuatorError } from "../common/error.ts";
import type { RecordSink } from "../loggers/adapter.ts";
import type { Level } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import type { Reading } from "./entry.ts";
import { RecordFilter } from "./filter.ts";
import { type Hearing, LoggerSink } from "./logger-sink.ts";
import { DEFAULT_LOGS, type LogsOptions } from "./options.ts";
import type { LogQuery, TailStart } from "./query.ts";
import { Raise } from "./raise.ts";
import type { HandlerNode } from "./record.ts";
import { Redaction } from "./redaction.ts";
import type { RecordRing } from "./ring.ts";
import { Rings } from "./rings.ts";
import { Tail, type TailBegin } from "./tail.ts";

/** How often records are read and handed to tails. */
const DRAIN_MS = 50;
const DEFAULT_PER_SECOND = 10_000;
const MAX_PER_SECOND = 100_000;
const MAX_RECENT = 4_096;
const MAX_NOTICES = 10;

/** A raised level that was taken back because it made too many records. */
export interface VolumeEvent {
  /** The names of the query, separated by commas; ROOT if it had none. */
  readonly name: string;
  readonly level: Level;
  readonly actor: string;
  readonly maxPerSecond: number;
}

/** What a domain of log records is given of the application. */
export interface Surroundings {
  /** The component of the integration graph in whose handler this is called. */
  readonly currentNode?: (() => HandlerNode | undefined) | undefined;
}

/**
 * What loggers write, for as long as a tail is open: until then nothing is heard, kept or replaced. After the last tail is closed, records
 * are kept for 10 seconds for one that comes back.
 */
export class Logs {
  readonly #loggers: Loggers;
  readonly #limits: typeof DEFAULT_LOGS;
  readonly #reading: Reading;
  readonly #hearing: Hearing;
  readonly #rings: Rings;
  readonly #raises = new Set<Raise>();
  readonly #volumeListeners = new Set<(event: VolumeEvent) => void>();
  #tails = 0;
  #drains: NodeJS.Timeout | undefined;
  #unheard: readonly string[] = [];
  #isClosed = false;

  constructor(loggers: Loggers, options: LogsOptions = {}, { currentNode = () => undefined }: Surroundings = {}) {
    this.#loggers = loggers;
    const { maxRaisedPerSecond, maxTails } = options;
    this.#limits = {
      maxRaisedPerSecond: maxRaisedPerSecond ?? DEFAULT_LOGS.maxRaisedPerSecond,
      maxTails: maxTails ?? DEFAULT_LOGS.maxTails,
    };
    this.#hearing = { currentNode, isReading: false };
    this.#rings = new Rings(this.#limits.maxTails, () => this.#listen());
    this.#reading = { redaction: new Redaction(options.redactKeys), redact: options.redact };
  }

  /** The number of open tails. */
  get size(): number {
    return this.#tails;
  }

  /**
   * Opens a tail, and raises the level if the query asks for it.
   *
   * @example
   * ```ts
   * const tail = actuator.logs!.open({ names: ["orders.*"], raise: { level: "DEBUG", reason: "why is 4711 stuck" } });
   * for await (const event of tail) if (event.type === "records") console.log(event.records);
   * ```
   * @throws ActuatorError INVALID_ARGUMENT (a condition, or as {@link Loggers.holdLevel}), RESOURCE_EXHAUSTED (too many tails or
   *   held levels), UNIMPLEMENTED (a library cannot keep records from its destinations), UNAVAILABLE (closed).
   */
  open(query: LogQuery = {}): Tail {
    const { names = [], raise: asked, recent = 0, after } = query;
    const { maxTails, maxRaisedPerSecond } = this.#limits;
    if (this.#isClosed) throw new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "This actuator is closed.");
    if (this.#tails >= maxTails) {
      const message = `${maxTails} tails are open already (option logs.maxTails); close one first.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_TAILS", message);
    }
    const filter = new RecordFilter(query, this.#loggers);
    const maxPerSecond = within(query.maxPerSecond ?? DEFAULT_PER_SECOND, 1, MAX_PER_SECOND, "max_per_second");
    within(recent, 0, MAX_RECENT, "recent");
    const place = after === undefined ? undefined : placeOf(after);
    const raise = asked && new Raise(this.#loggers, names, filter, asked, maxRaisedPerSecond, this.#raises);
    if (raise !== undefined) this.#watch(raise, query);
    const shared = this.#rings.get(filter, maxPerSecond, raise);
    if (raise !== undefined) this.#listen();
    const { ring, tails } = shared;
    // What was written before is not its own.
    this.#drain();
    const tail = new Tail(ring, raise, beginOf(ring, place, recent), this.#startOf(names, filter, raise), () => {
      this.#tails--;
      this.#rings.leave(shared, tail);
    });
    tails.add(tail);
    this.#tails++;
    return tail;
  }

  /** Calls `listener` whenever a raised level was taken back because it made too many records. Returns a function that removes it. */
  onVolume(listener: (event: VolumeEvent) => void): () => void {
    this.#volumeListeners.add(listener);
    return () => this.#volumeListeners.delete(listener);
  }

  /** Closes all tails and gives all levels back. May be called again. */
  close(): void {
    this.#isClosed = true;
    for (const { tails } of this.#rings) for (const tail of [...tails]) tail.close();
    this.#rings.clear();
  }

  #startOf(names: readonly string[], filter: RecordFilter, raise: Raise | undefined): TailStart {
    const { loggers } = this.#loggers.list();
    const raisedNames = new Set(raise?.raised.map(({ name }) => name));
    const unknown = this.#loggers.unknown(names.filter((name) => !raisedNames.has(name)));
    return {
      loggers: loggers.filter(({ name, kind }) => kind !== "" && filter.selects(name)).length,
      unheardKinds: this.#unheard,
      raised: raise?.raised ?? [],
      notices: [...(raise?.notices ?? []), ...unknown].slice(0, MAX_NOTICES),
      raiseTimeLeftMs: raise?.timeLeftMs,
    };
  }

  #watch(raise: Raise, { names = [] }: LogQuery): void {
    this.#raises.add(raise);
    raise.onEnd(() => {
      this.#raises.delete(raise);
      this.#listen();
      if (raise.endReason !== "VOLUME") return;
      const { level, actor = "" } = raise.request;
      const name = names.length === 0 ? "ROOT" : names.join(",");
      for (const listener of this.#volumeListeners) listener({ name, level, actor, maxPerSecond: raise.maxPerSecond });
    });
  }

  /** Hears what the present tails select, or nothing if there are none. */
  #listen(): void {
    if (this.#rings.size === 0) {
      clearInterval(this.#drains);
      this.#drains = undefined;
      this.#loggers.hear(undefined);
    } else {
      this.#drains ??= setInterval(() => this.#drain(), DRAIN_MS).unref();
      const hides = [...this.#rings].some(({ hiding }) => hiding?.isHiding);
      this.#unheard = this.#loggers.hear((name, kind) => this.#sinkOf(name, kind), hides);
    }
  }

  #sinkOf(name: string, kind: string): RecordSink | undefined {
    const rings = [...this.#rings].filter(({ ring }) => ring.filter.selects(name));
    const raises = [...this.#raises].flatMap((raise) => {
      const above = raise.additionalAbove(name);
      return above === undefined ? [] : { raise, above };
    });
    if (rings.length === 0 && raises.length === 0) return undefined;
    return new LoggerSink(name, kind, rings, raises, this.#hearing);
  }

  #drain(): void {
    const woken: Tail[] = [];
    this.#hearing.isReading = true;
    try {
      for (const { ring, tails } of this.#rings) {
        if (ring.drain(this.#reading)) woken.push(...tails);
      }
    } finally {
      this.#hearing.isReading = false;
    }
    for (const tail of woken) tail.wake();
  }
}

/** A place in a ring. */
interface Place {
  readonly ring: string;
  readonly next: number;
}

function placeOf(token: string): Place {
  const [, ring, next] = /^([\w-]{12})\.(\d{1,15})$/.exec(token) ?? [];
  if (ring !== undefined) return { ring, next: Number(next) };
  const message = "after must be the token of an event of this call.";
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_TOKEN", message, { field: "after" });
}

function beginOf(ring: RecordRing, place: Place | undefined, recent: number): TailBegin {
  if (place === undefined) return { next: Math.max(ring.oldest, ring.next - recent), gap: undefined };
  if (place.ring !== ring.id || place.next > ring.next) return { next: ring.oldest, gap: { count: undefined } };
  const missing = ring.oldest - place.next;
  return missing > 0 ? { next: ring.oldest, gap: { count: missing } } : { next: place.next, gap: undefined };
}

function within(value: number, least: number, most: number, field: string): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const message = `${field} must be a whole number from ${least} to ${most}.`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LIMIT", message, { field });
}
