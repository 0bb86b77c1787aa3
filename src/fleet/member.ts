import { setTimeout as delay } from "node:timers/promises";
import { ActuatorError } from "../common/error.ts";
import { settlesWithin, withTimeout } from "../common/timeout.ts";
import { type FleetEngine, FleetRefusal, type SeenReport } from "./engine.ts";
import { type FleetEntry, type FleetState, isLive, isNewer, keyOf } from "./entry.ts";
import { type Addition, type Amended, amend, EMPTY_STATE, isLacking, merge, prune, TRACE_MS } from "./state.ts";
import { stateOf, textOf } from "./state-text.ts";

/** Between two beats, give or take a fifth. */
const BEAT_MS = 5_000;
/** A call without an answer for this long has failed, and its connection is replaced: half-open ones never answer. */
const DEADLINE_MS = 4_000;
const RETRY_MS = 500;
/** A member reports 20 to 200 ms after a change, at random, so that not all of a fleet report at once. */
const NEWS_MS = [20, 200] as const;
const HEAL_MS = 1_000;
/** A fault that lasts longer is reported. An engine that is started again, or elsewhere, needs less. */
const REPORTED_MS = 10_000;
const MAX_TRIES = 20;
/** How long changes that are under way are waited for when the instance leaves, and then the engine. */
const CLOSE_MS = 1_000;
/** A clock that moved by more is another one: the machine slept, or the engine's was set. */
const CLOCK_MS = 100;
/** No document has this version: the answer always has the document. */
const NO_VERSION = "?";
const NO_ANSWER = "FLEET_ENGINE_UNAVAILABLE";

/** What a member needs of its instance. */
export interface MemberOptions {
  /** The id of the instance. */
  readonly id: string;
  /** What the instance says of itself, as JSON. Undefined: it only reads, and is not listed. */
  readonly report: () => string | undefined;
  /** Called whenever more is known of the fleet. */
  readonly onState: (known: FleetState) => void;
  /** Called with a fault that has lasted for 10 seconds, once until it is over. */
  readonly onFault: (fault: string) => void;
}

/** An instance's part in its fleet: it learns what the others changed, says how far it is, and restores what the engine lost. */
export class FleetMember {
  readonly #engine: FleetEngine;
  readonly #options: MemberOptions;
  #known = EMPTY_STATE;
  #stored = EMPTY_STATE;
  #version = "";
  /** What was last compared with the engine, and found to be there. */
  #compared: FleetState | undefined;
  /** The engine's clock is this much ahead of `performance.now()`. */
  #offset = Date.now() - performance.now();
  #answeredAt: number | undefined;
  #fault: string | undefined = "it has not answered yet";
  /** When it began; Infinity: it was reported. */
  #faulty: number | undefined;
  #beating: Promise<void> | undefined;
  #isBeatAgain = false;
  /** How many beats in a row have failed. */
  #failures = 0;
  readonly #changes = new Set<Promise<unknown>>();
  #isClosed = false;
  #nextBeat: NodeJS.Timeout | undefined;
  #news: NodeJS.Timeout | undefined;
  #healing: NodeJS.Timeout | undefined;

  constructor(engine: FleetEngine, options: MemberOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Begins to follow the fleet. */
  start(): void {
    this.#engine.onHint((hint) => this.#hinted(hint));
    void this.#beat();
  }

  /** What is known of the fleet. */
  get known(): FleetState {
    return this.#known;
  }

  /** Why this instance does not take part: a call failed, and no beat has succeeded since. Undefined: it does. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The engine's clock, in milliseconds since the epoch. Before its first answer the local one. */
  now(): number {
    return performance.now() + this.#offset;
  }

  /** Says soon how far this instance is. */
  tell(): void {
    if (this.#isClosed || this.#news !== undefined) return;
    const [least, most] = NEWS_MS;
    this.#news = later(least + Math.random() * (most - least), () => {
      this.#news = undefined;
      void this.#beat();
    });
  }

  /**
   * Learns what the engine has now.
   *
   * @throws ActuatorError UNAVAILABLE if it does not answer.
   */
  async refresh(): Promise<void> {
    const { state } = await this.#read();
    this.#learn(state);
  }

  /**
   * Changes levels of the fleet. Resolves with the changed entries when the engine has them.
   *
   * @param additionOf makes the change from what is known; it may be called again if another member is faster
   * @param ifGeneration changes nothing unless this is the generation of the fleet
   * @throws ActuatorError UNAVAILABLE (reason OUTCOME_UNKNOWN: it may have happened all the same), FAILED_PRECONDITION (another
   *   generation, or the engine refuses), RESOURCE_EXHAUSTED, and what `additionOf` throws.
   */
  async change(
    additionOf: (known: FleetState, now: number) => Addition,
    ifGeneration?: number | undefined,
  ): Promise<FleetState> {
    const changed = await this.#swap((stored, now) => {
      const known = prune(merge(stored, this.#known), now);
      if (ifGeneration !== undefined && known.generation !== ifGeneration) {
        const message = `The generation of the fleet is ${known.generation}, not ${ifGeneration}, because it was changed in between. Read it again.`;
        throw new ActuatorError("FAILED_PRECONDITION", "GENERATION_CHANGED", message, { field: "if_generation" });
      }
      return amend(stored, this.#known, additionOf(known, now), now);
    });
    return changed!;
  }

  /**
   * Lets levels that end by themselves last for `ttlMs` from now, but not those whose time is over already, or that others have
   * replaced.
   *
   * @returns what became of them: of one at least, or of all
   * @throws ActuatorError UNAVAILABLE.
   */
  async renew(keys: readonly string[], ttlMs: number): Promise<"renewed" | "expired" | "replaced"> {
    let outcome: "renewed" | "expired" | "replaced" = "renewed";
    await this.#swap((stored, now) => {
      const base = prune(merge(stored, this.#known), now);
      const there = keys.flatMap((key) => base.entries.get(key) ?? []).filter(({ level }) => level !== null);
      const live = there.filter((entry) => isLive(entry, now));
      outcome = live.length > 0 ? "renewed" : there.length > 0 ? "expired" : "replaced";
      if (live.length === 0) return undefined;
      const expireTime = Math.floor(now) + ttlMs;
      const entries = new Map(live.map((entry): [string, FleetEntry] => [keyOf(entry), { ...entry, expireTime }]));
      const changed = { ...base, entries };
      return { state: merge(base, changed), changed };
    });
    return outcome;
  }

  /**
   * The reports of all instances.
   *
   * @throws ActuatorError UNAVAILABLE.
   */
  instances(): Promise<readonly SeenReport[]> {
    return this.#asked(() => this.#engine.instances());
  }

  /** Leaves the fleet, after the changes that are under way: the instance is no longer listed. Takes two seconds at most. */
  async close(): Promise<void> {
    // Not in the background: the application may have more to do after it has ended the fleet.
    await settlesWithin(Promise.allSettled(this.#changes), CLOSE_MS);
    this.#isClosed = true;
    for (const timer of [this.#nextBeat, this.#news, this.#healing]) clearTimeout(timer);
    await withTimeout(this.#engine.close(this.#options.id), CLOSE_MS, "The fleet's engine").catch(() => undefined);
  }

  #hinted(hint: string | undefined): void {
    if (this.#isClosed) return;
    const changed = hint ? readable(hint) : undefined;
    if (changed === undefined) void this.#beat();
    else this.#learn(changed);
  }

  /** One at a time; what is asked for in the meantime follows it. */
  #beat(): Promise<void> {
    if (this.#beating !== undefined) this.#isBeatAgain = true;
    this.#beating ??= this.#exchange().finally(() => {
      this.#beating = undefined;
      if (this.#isClosed) return;
      this.#reportFault();
      if (this.#isBeatAgain) {
        this.#isBeatAgain = false;
        return void this.#beat();
      }
      const usual = (this.#engine.beatMs ?? BEAT_MS) * (0.8 + Math.random() * 0.4);
      this.#failures = this.#fault === undefined ? 0 : this.#failures + 1;
      const retry = RETRY_MS * 2 ** (this.#failures - 1) * (1 + Math.random());
      clearTimeout(this.#nextBeat);
      this.#nextBeat = later(this.#fault === undefined ? usual : Math.min(retry, usual), () => this.#beat());
    });
    return this.#beating;
  }

  #reportFault(): void {
    if (this.#fault === undefined) return void (this.#faulty = undefined);
    this.#faulty ??= performance.now();
    if (performance.now() - this.#faulty < REPORTED_MS) return;
    this.#faulty = Number.POSITIVE_INFINITY;
    this.#options.onFault(this.#fault);
  }

  async #exchange(): Promise<void> {
    if (this.#isClosed) return;
    const { id, report } = this.#options;
    try {
      const text = report();
      await this.#look(this.#version, text === undefined ? undefined : { id, text });
      this.#fault = undefined;
      if (this.#known === this.#compared || this.#healing !== undefined) return;
      if (!isLacking(this.#stored, this.#known, this.now())) this.#compared = this.#known;
      else this.#healing = later(Math.random() * HEAL_MS, () => this.#heal());
    } catch {
      // It was noted, and the next beat tries again.
    }
  }

  /** Writes back what the engine has lost, unless another member was faster. */
  async #heal(): Promise<void> {
    try {
      const { version, state } = await this.#read();
      this.#learn(state);
      if (!isLacking(state, this.#known, this.now())) return;
      const healed = prune(merge(state, this.#known), this.now());
      await this.#store(healed, version, "");
    } catch {
      // The next beat sees that it is still lacking.
    } finally {
      this.#healing = undefined;
      if (!this.#isClosed) void this.#beat();
    }
  }

  async #read(): Promise<{ readonly version: string; readonly state: FleetState; readonly now: number }> {
    const now = await this.#look(NO_VERSION);
    return { version: this.#version, state: this.#stored, now };
  }

  /** Learns what the engine has, unless it is the document of this version. Returns the engine's clock. */
  async #look(version: string, report?: { id: string; text: string }): Promise<number> {
    const sent = performance.now();
    const { now, document, stored } = await this.#asked(async () => {
      const exchanged = await this.#engine.exchange(version, report);
      return { ...exchanged, stored: exchanged.document && stateOf(exchanged.document.text) };
    });
    if (this.#answeredAt !== undefined && now - this.#answeredAt > TRACE_MS / 2) {
      // Traces of levels that ended in the meantime may be gone, so that what is known cannot be trusted.
      this.#known = stored ?? this.#stored;
      this.#options.onState(this.#known);
    }
    const offset = now - (sent + performance.now()) / 2;
    const isAnotherClock = Math.abs(offset - this.#offset) > CLOCK_MS;
    this.#offset = offset;
    this.#answeredAt = now;
    // What ends by that clock may have ended.
    if (isAnotherClock) this.#options.onState(this.#known);
    if (document !== undefined) {
      this.#version = document.version;
      this.#stored = stored!;
      this.#compared = undefined;
      this.#learn(stored!);
    }
    return now;
  }

  /** Replaces the document by what `make` makes of it. Resolves with what is new in it; undefined if `make` wants no change. */
  #swap(make: (stored: FleetState, now: number) => Amended | undefined): Promise<FleetState | undefined> {
    const swapped = this.#trySwaps(make);
    this.#changes.add(swapped);
    const forget = () => void this.#changes.delete(swapped);
    swapped.then(forget, forget);
    return swapped;
  }

  async #trySwaps(make: (stored: FleetState, now: number) => Amended | undefined): Promise<FleetState | undefined> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      await delay(Math.random() * 20 * attempt);
      const { version, state: stored, now } = await this.#read();
      const made = make(stored, now);
      if (made === undefined) return undefined;
      let isStored: boolean;
      try {
        isStored = await this.#store(made.state, version, textOf(made.changed));
      } catch (error) {
        if ((error as ActuatorError).reason !== NO_ANSWER) throw error;
        const message = `${(error as Error).message} It is not known whether the change has happened: look at the fleet's levels.`;
        throw new ActuatorError("UNAVAILABLE", "OUTCOME_UNKNOWN", message);
      }
      if (!isStored) continue;
      this.#learn(made.changed);
      return made.changed;
    }
    const message = `The fleet was changed by others during all ${MAX_TRIES} attempts; try again.`;
    throw new ActuatorError("UNAVAILABLE", "FLEET_BUSY", message);
  }

  async #store(state: FleetState, version: string, hint: string): Promise<boolean> {
    const next = { version: versionOf(state), text: textOf(state) };
    if (!(await this.#asked(() => this.#engine.store(next, version, hint)))) return false;
    this.#version = next.version;
    this.#stored = state;
    return true;
  }

  #learn(more: FleetState): void {
    const { generation } = this.#known;
    const isNews = [...more.entries].some(([key, entry]) => isNewer(entry, this.#known.entries.get(key)));
    if (!isNews && more.generation <= generation) return;
    this.#known = prune(merge(this.#known, more), this.now());
    this.#options.onState(this.#known);
    // A lease that is only renewed is no news.
    if (this.#known.generation > generation) this.tell();
  }

  /** Waits for a call of the engine. A connection that gives no answer is thrown away. */
  async #asked<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw this.#unavailable("this instance has left the fleet");
    try {
      const late = () => new NoAnswer(`no answer within ${DEADLINE_MS / 1_000} s`);
      return await withTimeout(call, DEADLINE_MS, late, { background: true });
    } catch (error) {
      const why = ((error as Error).message || "it cannot be reached").replace(/\.$/, "");
      this.#fault = why;
      if (this.#beating === undefined) this.tell();
      if (error instanceof ActuatorError) throw error;
      if (error instanceof FleetRefusal) throw this.#refused(why);
      if (error instanceof NoAnswer) void this.#engine.reset().catch(() => undefined);
      throw this.#unavailable(why);
    }
  }

  #refused(why: string): ActuatorError {
    const message = `The fleet's engine (${this.#engine.kind}) refuses the call: ${why}.`;
    return new ActuatorError("FAILED_PRECONDITION", "FLEET_ENGINE_REFUSED", message);
  }

  #unavailable(why: string): ActuatorError {
    const message = `The fleet's engine (${this.#engine.kind}) does not answer: ${why}.`;
    return new ActuatorError("UNAVAILABLE", NO_ANSWER, message);
  }
}

class NoAnswer extends Error {}

/** What cannot be read in a hint is in the document, too. */
function readable(hint: string): FleetState | undefined {
  try {
    return stateOf(hint);
  } catch {
    return undefined;
  }
}

/** A version that no other document has: an engine that lost everything may give the same generation again. */
function versionOf({ generation }: FleetState): string {
  return `${generation}-${crypto.randomUUID()}`;
}

function later(ms: number, action: () => void): NodeJS.Timeout {
  return setTimeout(action, ms).unref();
}
