import { ActuatorError } from "../common/error.ts";
import type { Lease } from "../loggers/lease.ts";
import { type Level, levelVerbosity } from "../loggers/level.ts";
import type { Loggers } from "../loggers/loggers.ts";
import { loggerName, ROOT } from "../loggers/name.ts";
import type { Notice } from "../loggers/notice.ts";
import { prefixOf, type RecordFilter } from "./filter.ts";
import type { RaiseEndReason, RaiseRequest, TailStart } from "./query.ts";

/**
 * A level for as long as a tail is open. It ends before if its time is over, if another level was configured, or if it makes more
 * records in a second than it may.
 *
 * With `onlyHere` no level changes: the records that the loggers' level drops are made for the tail alone.
 */
export class Raise {
  readonly request: RaiseRequest;
  readonly maxPerSecond: number;
  /** The `levelVerbosity` of its level. */
  readonly verbosity: number;
  raised: TailStart["raised"] = [];
  notices: readonly Notice[] = [];
  readonly #loggers: Loggers;
  readonly #filter: RecordFilter;
  readonly #leases: Lease[] = [];
  readonly #listeners = new Set<() => void>();
  /** The `levelVerbosity` that the names would have without any raise. */
  readonly #before = new Map<string, number>();
  readonly #deadline: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #end: RaiseEndReason | "RELEASED" | undefined;
  #second = 0;
  #inSecond = 0;
  #isOver = false;

  /**
   * Raises the level.
   *
   * @param names those of the query
   * @param others the raises that are under way
   * @throws ActuatorError as {@link Loggers.holdLevel}; UNIMPLEMENTED if a library cannot keep records from its destinations. Then
   *   nothing has changed.
   */
  constructor(
    loggers: Loggers,
    names: readonly string[],
    filter: RecordFilter,
    request: RaiseRequest,
    maxPerSecond: number,
    others: Iterable<Raise>,
  ) {
    this.request = request;
    this.#loggers = loggers;
    this.#filter = filter;
    this.maxPerSecond = limitOf(request.maxPerSecond, maxPerSecond);
    const ttlMs = loggers.checkHold(request.level, request);
    this.verbosity = levelVerbosity(request.level);
    if (request.onlyHere) {
      const fault = loggers.hidingFault((name) => filter.selects(name));
      if (fault !== undefined) throw new ActuatorError("UNIMPLEMENTED", "ONLY_HERE_UNSUPPORTED", `${fault}.`);
      this.#deadline = ttlMs === undefined ? undefined : performance.now() + ttlMs;
      this.#timer = ttlMs === undefined ? undefined : setTimeout(() => this.#finish("EXPIRED"), ttlMs).unref();
    } else this.#hold(this.#targets(names), [...others]);
  }

  /** Why it ended by itself; undefined while it lasts, and once it was released. */
  get endReason(): RaiseEndReason | undefined {
    return this.#end === "RELEASED" ? undefined : this.#end;
  }

  /** Whether additional records are made for its tail alone. */
  get isHiding(): boolean {
    return this.request.onlyHere === true && this.#end === undefined && !this.#isOver;
  }

  /** How long it lasts at most, in milliseconds; undefined if as long as the tail. */
  get timeLeftMs(): number | undefined {
    if (this.#deadline !== undefined) return Math.max(0, this.#deadline - performance.now());
    return this.#leases[0]?.timeLeft;
  }

  /** Calls `listener` once when it has ended. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Gives the levels back. May be called again. */
  release(): void {
    this.#finish("RELEASED");
  }

  /** The `levelVerbosity` above which the records of a logger are there only because of it; undefined if it does not raise the logger. */
  additionalAbove(text: string): number | undefined {
    if (this.#end !== undefined) return undefined;
    const name = loggerName(text);
    if (this.request.onlyHere) return this.#filter.selects(name) ? 0 : undefined;
    return this.#before.get(this.#loggers.nameThatDecides(name));
  }

  /** Counts one additional record. Ends it, after the call that wrote the record, if there are too many. */
  count(time: number): void {
    if (time - this.#second >= 1_000 || time < this.#second) {
      this.#second = time;
      this.#inSecond = 0;
    }
    if (++this.#inSecond <= this.maxPerSecond || this.#isOver) return;
    this.#isOver = true;
    // A level must not change beneath the call that writes a record.
    queueMicrotask(() => this.#finish("VOLUME"));
  }

  /** The names on which the level is set: those of single loggers, the members of groups, and what is above a wildcard. */
  #targets(names: readonly string[]): readonly string[] {
    if (names.length === 0) return [ROOT];
    const members = names.flatMap((name) => (prefixOf(name) === undefined ? this.#loggers.reach(name) : name));
    return [...new Set(members.map((name) => prefixOf(name) ?? loggerName(name)))];
  }

  #hold(targets: readonly string[], others: readonly Raise[]): void {
    const { level } = this.request;
    const levels = targets.map((target) => [target, this.#loggers.effectiveLevel(target)] as const);
    for (const [target, before] of levels) {
      const withoutOthers = others.flatMap((other) => other.additionalAbove(target) ?? []);
      this.#before.set(target, Math.min(levelVerbosity(before), ...withoutOthers));
    }
    try {
      for (const [target, before] of levels) {
        const isBeneath = levelVerbosity(before) > this.verbosity;
        if (isBeneath) {
          const beneath = this.#loggers.levelBeneathTemporary(target);
          if (beneath === undefined || levelVerbosity(beneath) > this.verbosity) {
            this.notices = [...this.notices, moreVerbose(target, before)];
            continue;
          }
          this.#before.set(target, levelVerbosity(beneath));
        }
        const { lease, previousLevel, notices, result } = this.#loggers.holdLevel(target, level, {
          ...this.request,
          isBeneath,
        });
        this.#leases.push(lease);
        this.raised = [...this.raised, { name: result.name, previousLevel }];
        this.notices = [...this.notices, ...notices];
        lease.onEnd(() => this.#leaseEnded(lease));
      }
    } catch (error) {
      this.release();
      throw error;
    }
  }

  #leaseEnded({ end }: Lease): void {
    if (this.#leases.every((lease) => lease.end !== undefined)) this.#finish(end === "EXPIRED" ? end : "OVERRULED");
  }

  #finish(end: RaiseEndReason | "RELEASED"): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#timer);
    for (const lease of this.#leases) lease.release(undefined, end === "VOLUME" ? { kind: end } : {});
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

function moreVerbose(name: string, level: Level): Notice {
  const message = `The level in effect on ${name} is ${level} already, which lets more through; it stays`;
  return { code: "PARTLY_APPLIED", message, nearest: undefined };
}

function limitOf(asked: number | undefined, limit: number): number {
  if (asked === undefined) return limit;
  if (Number.isInteger(asked) && asked > 0 && asked <= limit) return asked;
  const message = `A raised level may make from 1 to ${limit} additional records a second (option logs.maxRaisedPerSecond).`;
  throw new ActuatorError("INVALID_ARGUMENT", "INVALID_LIMIT", message, { field: "raise.max_per_second" });
}
