import type { GraphSnapshot } from "./snapshot.ts";
import { type WatchedGraph, watchedAgain, watchedGraph } from "./watched-graph.ts";

/** How often a graph may be watched, in milliseconds. */
export const WATCH_INTERVAL = { min: 250, max: 60_000, default: 1_000 } as const;

/** Intervals are whole multiples of this, so that there are few of them however many watchers. */
const STEP_MS = 250;
/** So many watchers are told before the application has its turn. */
const BATCH = 20;

/** How old what sources say may become while a graph is watched, in milliseconds. */
const REFRESH_MS = 30_000;

/** What is watched. */
export interface WatchableGraph {
  snapshot(): GraphSnapshot;
  /** Reads every source again. */
  readonly rebuild?: () => Promise<unknown>;
  /** How often that is done while the graph is watched; every 30 seconds by default. */
  readonly refreshMs?: number | undefined;
}

/** One who watches a graph. */
export interface GraphWatcher {
  /** The graph as of the last look. */
  readonly state: WatchedGraph;
  /** Ends it. May be called again. */
  close(): void;
}

/**
 * The changes of a graph, for its watchers. The watchers of one interval share one timer, one look at the graph and one
 * state: the version that a watcher has seen determines what is new to it, so a watcher needs no more memory than that number,
 * however slow it is. While there are watchers, the sources of the graph are read again at intervals, so that facts of brokers and
 * marks of what is stale are not old. Without watchers, nothing is computed and no timer runs.
 */
export class GraphWatch {
  readonly #graph: WatchableGraph;
  readonly #looks = new Map<number, Look>();
  #refreshing: NodeJS.Timeout | undefined;
  // Sources are read when they are added.
  #refreshedAt = performance.now();

  constructor(graph: WatchableGraph) {
    this.#graph = graph;
  }

  /** How many timers look at the graph. */
  get timers(): number {
    return this.#looks.size;
  }

  /**
   * Calls `wake` after the graph has changed, at most once in about `interval` milliseconds, within {@link WATCH_INTERVAL}. The
   * state is fresh at once.
   */
  watch(interval: number, wake: () => void): GraphWatcher {
    const { min, max } = WATCH_INTERVAL;
    const key = Math.round(Math.min(Math.max(interval, min), max) / STEP_MS) * STEP_MS;
    let look = this.#looks.get(key);
    if (look === undefined) {
      look = new Look(this.#graph, key);
      this.#looks.set(key, look);
    } else look.refresh();
    if (this.#refreshing === undefined) this.#refreshLater();
    return look.join(wake, () => {
      this.#looks.delete(key);
      if (this.#looks.size > 0) return;
      clearTimeout(this.#refreshing);
      this.#refreshing = undefined;
    });
  }

  /** At once if that was long ago. */
  #refreshLater(): void {
    const { rebuild, refreshMs = REFRESH_MS } = this.#graph;
    if (rebuild === undefined) return;
    const refresh = async () => {
      const timer = this.#refreshing;
      this.#refreshedAt = performance.now();
      // Sources report their errors themselves.
      await rebuild().catch(() => {});
      if (this.#refreshing === timer) this.#refreshLater();
    };
    const due = Math.max(0, this.#refreshedAt + refreshMs - performance.now());
    this.#refreshing = setTimeout(refresh, due).unref();
  }
}

/** The watchers of one interval. */
class Look {
  readonly #graph: WatchableGraph;
  readonly #watchers = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #state: WatchedGraph;
  #lookedAt = performance.now();
  #busy = false;

  constructor(graph: WatchableGraph, interval: number) {
    this.#graph = graph;
    this.#state = watchedGraph(graph.snapshot());
    this.#timer = setInterval(() => this.#look(), interval).unref();
  }

  /** For one who joins between two looks: no more often than the shortest interval. */
  refresh(): void {
    if (performance.now() - this.#lookedAt >= WATCH_INTERVAL.min) this.#look();
  }

  join(wake: () => void, onEmpty: () => void): GraphWatcher {
    // Each has a place of its own, were it the same function.
    const watcher = () => wake();
    const state = () => this.#state;
    this.#watchers.add(watcher);
    return {
      get state() {
        return state();
      },
      close: () => {
        if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
        clearInterval(this.#timer);
        onEmpty();
      },
    };
  }

  #look(): void {
    this.#lookedAt = performance.now();
    const before = this.#state;
    this.#state = watchedAgain(before, this.#graph.snapshot());
    if (this.#state !== before && !this.#busy) void this.#wake();
  }

  async #wake(): Promise<void> {
    this.#busy = true;
    let count = 0;
    let told: WatchedGraph;
    do {
      told = this.#state;
      for (const watcher of this.#watchers) {
        watcher();
        if (++count % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } while (told !== this.#state && this.#watchers.size > 0);
    this.#busy = false;
  }
}
