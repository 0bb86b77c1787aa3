import { ActuatorError } from "../common/error.ts";
import type { RecordSink } from "../loggers/adapter.ts";
import type { Level } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { Entry, type Reading } from "./entry.ts";
import { RecordFilter } from "./filter.ts";
import { DEFAULT_LOGS, type LogsOptions } from "./options.ts";
import type { LogQuery, TailStart } from "./query.ts";
import { Raise } from "./raise.ts";
import type { HandlerNode } from "./record.ts";
import { Redaction } from "./redaction.ts";
import { RecordRing } from "./ring.ts";
import { Tail, type TailBegin } from "./tail.ts";

/** How often records are read and handed to tails. */
const DRAIN_MS = 50;
/** How long records are kept for tails that come back. */
const LINGER_MS = 10_000;
/** The characters that all rings keep together, and one at most. */
const MAX_SIZE = 32 * 1024 * 1024;
const MAX_RING_SIZE = 4 * 1024 * 1024;
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

/** A ring with its readers. */
interface Use {
  readonly ring: RecordRing;
  readonly tails: Set<Tail>;
  /** The only raise that keeps its records from the application's destinations. */
  readonly hiding: Raise | undefined;
  lingering: NodeJS.Timeout | undefined;
  /** Whether libraries know of it. */
  isHeard: boolean;
}

/**
 * What loggers write, for as long as a tail is open: until then nothing is heard, kept or replaced. After the last tail is closed, records
 * are kept for 10 seconds for one that comes back.
 */
export class Logs {
  readonly #loggers: Loggers;
  readonly #limits: typeof DEFAULT_LOGS;
  readonly #reading: Reading;
  readonly #currentNode: () => HandlerNode | undefined;
  /** By the conditions of their tails. */
  readonly #uses = new Map<string, Use>();
  readonly #raises = new Set<Raise>();
  readonly #volumeListeners = new Set<(event: VolumeEvent) => void>();
  #tails = 0;
  #sequenceOfHiding = 0;
  #drains: NodeJS.Timeout | undefined;
  #unheard: readonly string[] = [];
  #isReading = false;
  #isClosed = false;

  constructor(loggers: Loggers, options: LogsOptions = {}, { currentNode = () => undefined }: Surroundings = {}) {
    this.#loggers = loggers;
    const { maxRaisedPerSecond, maxTails } = options;
    this.#limits = {
      maxRaisedPerSecond: maxRaisedPerSecond ?? DEFAULT_LOGS.maxRaisedPerSecond,
      maxTails: maxTails ?? DEFAULT_LOGS.maxTails,
    };
    this.#currentNode = currentNode;
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
    const raise = asked && new Raise(this.#loggers, names, filter, asked, maxRaisedPerSecond);
    const use = this.#use(filter, maxPerSecond, raise);
    const { ring } = use;
    if (raise !== undefined) this.#watch(raise, query);
    if (raise !== undefined || !use.isHeard) this.#listen();
    use.isHeard = true;
    const start = this.#startOf(names, filter, raise);
    const tail = new Tail(ring, raise, beginOf(ring, place, recent), start, () => this.#closed(tail, use));
    use.tails.add(tail);
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
    for (const { tails, lingering } of this.#uses.values()) {
      clearTimeout(lingering);
      for (const tail of [...tails]) tail.close();
    }
    for (const { lingering } of this.#uses.values()) clearTimeout(lingering);
    this.#uses.clear();
    this.#listen();
  }

  /** The ring for these conditions. One that hides records is not shared: they end with its raise. */
  #use(filter: RecordFilter, maxPerSecond: number, raise: Raise | undefined): Use {
    const hiding = raise?.request.onlyHere ? raise : undefined;
    const key = JSON.stringify([filter.key, maxPerSecond, hiding && ++this.#sequenceOfHiding]);
    let use = this.#uses.get(key);
    if (use === undefined) {
      this.#makeRoom();
      use = {
        ring: new RecordRing(filter, maxPerSecond),
        tails: new Set(),
        hiding,
        lingering: undefined,
        isHeard: false,
      };
      this.#uses.set(key, use);
    }
    clearTimeout(use.lingering);
    use.lingering = undefined;
    return use;
  }

  /** Drops the ring that waited longest for a tail to come back, if there are as many as there may be tails. */
  #makeRoom(): void {
    if (this.#uses.size < this.#limits.maxTails) return;
    for (const [key, { lingering }] of this.#uses) {
      if (lingering === undefined) continue;
      clearTimeout(lingering);
      this.#uses.delete(key);
      return;
    }
  }

  #share(): void {
    const maxSize = Math.min(MAX_RING_SIZE, MAX_SIZE / this.#uses.size);
    for (const { ring } of this.#uses.values()) ring.maxSize = maxSize;
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

  #closed(tail: Tail, use: Use): void {
    this.#tails--;
    use.tails.delete(tail);
    if (use.tails.size > 0) return;
    const forget = () => {
      for (const [key, other] of this.#uses) if (other === use) this.#uses.delete(key);
      this.#listen();
    };
    if (use.hiding !== undefined || this.#isClosed) forget();
    else use.lingering = setTimeout(forget, LINGER_MS).unref();
  }

  /** Hears what the present tails select, or nothing if there are none. */
  #listen(): void {
    if (this.#uses.size === 0) {
      clearInterval(this.#drains);
      this.#drains = undefined;
      this.#loggers.hear(undefined);
    } else {
      this.#share();
      this.#drains ??= setInterval(() => this.#drain(), DRAIN_MS).unref();
      const hides = [...this.#uses.values()].some(({ hiding }) => hiding?.isHiding);
      this.#unheard = this.#loggers.hear((name, kind) => this.#sinkOf(name, kind), hides);
    }
  }

  #sinkOf(name: string, kind: string): RecordSink | undefined {
    const uses = [...this.#uses.values()].filter(({ ring }) => ring.filter.selects(name));
    const raises = [...this.#raises].flatMap((raise) => {
      const above = raise.additionalAbove(name);
      return above === undefined ? [] : { raise, above };
    });
    if (uses.length === 0 && raises.length === 0) return undefined;
    const verbosity = Math.max(
      ...uses.map(({ ring }) => ring.filter.verbosity),
      ...raises.map(({ raise }) => raise.verbosity),
    );
    const hidings = uses.flatMap(({ hiding }) => hiding ?? []);
    const rings = uses.map(({ ring, hiding }) => ({ ring, hiding }));
    const take: RecordSink["take"] = (record) => {
      // What redaction writes would never end.
      if (this.#isReading) return;
      const time = Date.now();
      for (const { raise, above } of raises) {
        const isAdditional = raise.request.onlyHere ? record.hidden : record.verbosity > above;
        if (isAdditional && record.verbosity <= raise.verbosity) raise.count(time);
      }
      let entry: Entry | undefined;
      for (const { ring, hiding } of rings) {
        if (record.verbosity > ring.filter.verbosity) continue;
        if (record.hidden && !(hiding?.isHiding && record.verbosity <= hiding.verbosity)) continue;
        entry ??= new Entry(name, kind, time, record, this.#currentNode());
        ring.push(entry, time);
      }
    };
    return {
      verbosity,
      take,
      get hiddenVerbosity() {
        let most = 0;
        for (const { isHiding, verbosity } of hidings) if (isHiding && verbosity > most) most = verbosity;
        return most;
      },
    };
  }

  #drain(): void {
    const woken: Tail[] = [];
    this.#isReading = true;
    try {
      for (const { ring, tails } of this.#uses.values()) {
        if (ring.drain(this.#reading)) woken.push(...tails);
      }
    } finally {
      this.#isReading = false;
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
