import { type CompactChange, compactChange, isSameLogger } from "./compact-change.ts";
import { Lineage } from "./lineage.ts";
import type { Loggers } from "./loggers.ts";
import { ROOT } from "./name.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "./view.ts";

/** A logger or group, and the revision in which it last changed. */
export interface Dated<Subject> {
  readonly subject: Subject;
  readonly revision: number;
}

/** A logger that is no longer known. */
export interface RemovedLogger {
  readonly type: "removed";
  readonly name: string;
}

/** All loggers and groups at one moment, in the order of the overview, each with the revision of its last change. */
export interface WatchedState {
  readonly loggers: readonly Dated<Logger>[];
  readonly groups: readonly Dated<LoggerGroup>[];
  /** The loggers that no longer exist, the latest last, each with the revision since which it is gone. */
  readonly removed: readonly Dated<RemovedLogger>[];
  /** A watcher that knows less than this revision has to begin anew: it would miss loggers that are gone. */
  readonly completeSince: number;
  readonly revision: number;
  /** The loggers of which watchers were notified before. Defined only if a watcher asks for compact changes. */
  readonly before: Pick<WatchedState, "loggers" | "revision"> | undefined;
}

/** The shortest time between two states that watchers get. */
const MIN_INTERVAL_MS = 100;
/** The longest time between two states, however much there is to do. */
const MAX_INTERVAL_MS = 2_000;
/** Notifying watchers takes at most about one tenth of the time. */
const SHARE = 10;
/** How often libraries that do not announce changes are read. */
const REFRESH_MS = 1_000;
/** The maximum of loggers that are remembered after they are gone. */
const MAX_REMOVED = 10_000;
/** Fewer loggers that change are listed, which takes less time than to find out what they inherit. */
const MIN_COMPACT = 3;
/** The number of watchers that are notified before the application gets its turn. */
const BATCH = 20;

/**
 * Notifies watchers of changes of the loggers. It keeps one state for all watchers. A watcher finds what is new by the revision
 * that it has seen last, so even a slow watcher needs no more memory than that number.
 *
 * A logger changes when anything that is shown of it changes, for example when it inherits another level. Changes in quick
 * succession count as one. Without watchers nothing is computed.
 */
export class LoggersWatch {
  readonly #loggers: Loggers;
  readonly #watchers = new Set<() => void>();
  #compact = 0;
  #state: WatchedState | undefined;
  #overview: LoggersOverview | undefined;
  /** What watchers were last notified of, for compact changes. */
  #before: WatchedState["before"];
  /** Of the loggers of the last compact change. Names change less often than levels. */
  #lineage: Lineage | undefined;
  /** The revision that watchers were last notified of. */
  #notified = 0;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #again = false;
  #notBefore = 0;
  #stop = () => {};

  constructor(loggers: Loggers) {
    this.#loggers = loggers;
  }

  /** The number of watchers. */
  get size(): number {
    return this.#watchers.size;
  }

  /** The state for watchers. Defined only while there is at least one. */
  get state(): WatchedState {
    return this.#state!;
  }

  /**
   * Calls `watcher` after each change of the state, which is current at once. `compact` says whether it will ask for compact changes.
   * Returns a function that removes the watcher.
   */
  watch(watcher: () => void, { compact = false } = {}): () => void {
    this.#read();
    if (this.#watchers.size === 0) this.#begin();
    this.#watchers.add(watcher);
    if (compact && this.#compact++ === 0) this.#remember();
    return () => {
      if (!this.#watchers.delete(watcher)) return;
      if (compact && --this.#compact === 0) {
        this.#before = undefined;
        this.#lineage = undefined;
      }
      if (this.#watchers.size === 0) this.#end();
    };
  }

  /** The change of the selected loggers since {@link WatchedState.before}; undefined if it has no inherited levels. */
  compactChange(isSelected: (logger: Logger) => boolean): CompactChange | undefined {
    const { before, loggers: dated } = this.state;
    if (before === undefined) return undefined;
    const changed = dated.filter(({ subject, revision }) => revision > before.revision && isSelected(subject));
    if (changed.length < MIN_COMPACT) return undefined;
    let at = 0;
    const known = dated.map(({ subject }) => {
      const was = before.loggers[at]?.subject;
      if (was?.name !== subject.name) return undefined;
      at++;
      return was;
    });
    // A logger is gone. It may have come back in another spelling, so this is left to a full list.
    if (at < before.loggers.length) return undefined;
    const loggers = dated.map(({ subject }) => subject);
    const names = loggers.map(({ name }) => name);
    if (!this.#lineage?.isOf(names)) this.#lineage = new Lineage(names);
    return compactChange(known, loggers, this.#lineage, isSelected);
  }

  #remember(): void {
    const { loggers, revision } = this.state;
    this.#before = { loggers, revision };
  }

  #begin(): void {
    this.#notified = this.state.revision;
    const off = this.#loggers.onRevision(() => this.#schedule());
    const refresh = setInterval(() => this.#schedule(), REFRESH_MS).unref();
    this.#stop = () => {
      off();
      clearInterval(refresh);
    };
  }

  #end(): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#state = undefined;
    this.#overview = undefined;
    this.#notBefore = 0;
  }

  /** Runs at every change, so it only sets a timer: the application may be making ten thousand loggers. */
  #schedule(): void {
    if (this.#busy) this.#again = true;
    else this.#timer ??= setTimeout(() => this.#notify(), Math.max(1, this.#notBefore - performance.now())).unref();
  }

  async #notify(): Promise<void> {
    this.#timer = undefined;
    this.#busy = true;
    this.#again = false;
    const start = performance.now();
    try {
      this.#read();
    } catch {
      // A failing adapter is reported to callers that list loggers. Watchers keep the last state.
    }
    if (this.#notified !== this.#state?.revision) {
      this.#notified = this.#state?.revision ?? 0;
      if (this.#compact > 0) this.#remember();
      await this.#wake();
    }
    const end = performance.now();
    this.#notBefore = start + Math.min(Math.max(MIN_INTERVAL_MS, SHARE * (end - start)), MAX_INTERVAL_MS);
    this.#busy = false;
    if (this.#again && this.#watchers.size > 0) this.#schedule();
  }

  async #wake(): Promise<void> {
    let count = 0;
    for (const watcher of this.#watchers) {
      watcher();
      if (++count % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #read(): void {
    const overview = this.#loggers.list();
    if (overview === this.#overview) return;
    const { loggers, groups, revision } = overview;
    this.#overview = overview;
    const before = this.#state;
    const dated = datedLoggers(before?.loggers ?? [], loggers, revision);
    const present = new Set(dated.gone.length > 0 || before?.removed.length ? loggers.map(({ name }) => name) : []);
    const removed = [...(before?.removed ?? []).filter(({ subject }) => !present.has(subject.name)), ...dated.gone];
    const dropped = removed.slice(0, Math.max(0, removed.length - MAX_REMOVED));
    this.#state = {
      loggers: dated.loggers,
      groups: groups.map((group, index) => {
        const last = before?.groups[index];
        return last !== undefined && same(last.subject, group) ? last : { subject: group, revision };
      }),
      removed: removed.slice(dropped.length),
      completeSince: dropped.at(-1)?.revision ?? before?.completeSince ?? 0,
      revision,
      before: this.#before,
    };
  }
}

/** Both lists are in the order of the overview. */
function datedLoggers(known: readonly Dated<Logger>[], seen: readonly Logger[], revision: number) {
  const gone: Dated<RemovedLogger>[] = [];
  const remove = ({ name }: Logger) => gone.push({ subject: { type: "removed", name }, revision });
  let at = 0;
  const loggers = seen.map((subject) => {
    for (; at < known.length && comesBefore(known[at]!.subject, subject); at++) remove(known[at]!.subject);
    const last = known[at];
    if (last?.subject.name !== subject.name) return { subject, revision };
    at++;
    return isSameLogger(last.subject, subject) ? last : { subject, revision };
  });
  for (; at < known.length; at++) remove(known[at]!.subject);
  return { loggers, gone };
}

/** ROOT, by UTF-16 code unit. */
function comesBefore({ name: one }: Logger, { name: other }: Logger): boolean {
  return other !== ROOT && (one === ROOT || one < other);
}

function same<Subject extends object>(one: Subject, other: Subject): boolean {
  for (const key in one) if (one[key] !== other[key]) return false;
  return true;
}
