import type { Loggers } from "./loggers.ts";
import type { Logger, LoggerGroup, LoggersOverview } from "./view.ts";

/** Something that is watched, and the revision in which it was last seen to change. */
export interface Dated<Subject> {
  readonly subject: Subject;
  readonly revision: number;
}

/** Everything at one moment, in the order of the overview, each with the revision of its last change. */
export interface WatchedState {
  readonly loggers: readonly Dated<Logger>[];
  readonly groups: readonly Dated<LoggerGroup>[];
  readonly revision: number;
}

/** The shortest time between two states that watchers are told of. */
const INTERVAL_MS = 100;
/** The longest, however much there is to do. */
const MAX_INTERVAL_MS = 2_000;
/** Of the time, telling watchers takes about one part in so many. */
const SHARE = 10;
/** How often libraries that tell of nothing are asked. */
const REFRESH_MS = 1_000;
/** So many watchers are told before the application has its turn. */
const BATCH = 20;

/**
 * The changes of the loggers, for those who watch them. It holds one state for all watchers: whoever knows up to which
 * revision it has seen can tell what is new, so a watcher needs no more memory than that number however slow it is.
 *
 * A logger changes when anything that is shown of it does, and so also when it inherits another level. Changes that come in
 * quick succession are seen as one. While nobody watches, nothing is computed and nothing is listened to.
 */
export class LoggersWatch {
  readonly #loggers: Loggers;
  readonly #watchers = new Set<() => void>();
  #state: WatchedState | undefined;
  #overview: LoggersOverview | undefined;
  #told = 0;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #again = false;
  #notBefore = 0;
  #stop = () => {};

  constructor(loggers: Loggers) {
    this.#loggers = loggers;
  }

  /** How many watch. */
  get size(): number {
    return this.#watchers.size;
  }

  /** The state that watchers may be told of. While somebody watches, and only then. */
  get state(): WatchedState {
    return this.#state!;
  }

  /** Calls `watcher` after the state has changed, until the returned function is called. The state is fresh at once. */
  watch(watcher: () => void): () => void {
    this.#look();
    if (this.#watchers.size === 0) this.#begin();
    this.#watchers.add(watcher);
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#end();
    };
  }

  #begin(): void {
    this.#told = this.state.revision;
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

  /** On the way of every change, and so no more than a timer: the application may be making ten thousand loggers. */
  #schedule(): void {
    if (this.#busy) this.#again = true;
    else this.#timer ??= setTimeout(() => this.#tell(), Math.max(1, this.#notBefore - performance.now())).unref();
  }

  async #tell(): Promise<void> {
    this.#timer = undefined;
    this.#busy = true;
    this.#again = false;
    const start = performance.now();
    try {
      this.#look();
    } catch {
      // An adapter that cannot look fails for whoever lists, who is told. A watcher goes on with what it knows.
    }
    if (this.#told !== this.#state?.revision) {
      this.#told = this.#state?.revision ?? 0;
      await this.#wake();
    }
    const end = performance.now();
    this.#notBefore = start + Math.min(Math.max(INTERVAL_MS, SHARE * (end - start)), MAX_INTERVAL_MS);
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

  #look(): void {
    const overview = this.#loggers.list();
    if (overview === this.#overview) return;
    const { loggers, groups, revision } = overview;
    this.#overview = overview;
    this.#state = {
      loggers: dated(this.#state?.loggers ?? [], loggers, revision),
      groups: dated(this.#state?.groups ?? [], groups, revision),
      revision,
    };
  }
}

/** Names are never lost and keep their order, so one that is not the next known one is new. */
function dated<Subject extends { readonly name: string }>(
  known: readonly Dated<Subject>[],
  seen: readonly Subject[],
  revision: number,
): readonly Dated<Subject>[] {
  let at = 0;
  return seen.map((subject) => {
    const last = known[at];
    if (last?.subject.name !== subject.name) return { subject, revision };
    at++;
    return same(last.subject, subject) ? last : { subject, revision };
  });
}

function same<Subject extends object>(one: Subject, other: Subject): boolean {
  for (const key in one) if (one[key] !== other[key]) return false;
  return true;
}
