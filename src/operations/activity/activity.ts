import { isDeepStrictEqual } from "node:util";
import { withTimeout } from "../../common/timeout.ts";
import type { NodeCounts } from "../../integration-graph/counts.ts";
import type { Health, HealthReport } from "../health/health.ts";
import { type FailingNode, FailingNodes } from "./failing-nodes.ts";
import { LastMinute } from "./last-minute.ts";

/** How often the activity is looked at, in milliseconds. */
const LOOK_MS = 2_000;
/** The interval of samples, in milliseconds. */
export const SAMPLE_MS = 30_000;
/** How many samples are kept: an hour of them. */
const MAX_SAMPLES = 120;
/** For how long it goes on without a watch, so that a page can be loaded again without losing the history, in milliseconds. */
const LINGER_MS = 60_000;
/** How often the sessions are counted at most, in milliseconds. */
const COUNT_MS = 60_000;
/** How long counting them may take, in milliseconds. */
const COUNT_TIMEOUT_MS = 5_000;

/** What is watched. */
export interface ActivitySources {
  readonly health: Pick<Health, "report" | "times" | "check" | "onChange">;
  readonly graph?: { counts(): readonly NodeCounts[] } | undefined;
  /** Resolves to undefined if the store cannot count. */
  readonly sessions?: { count(): Promise<number | undefined> } | undefined;
  readonly onError: (error: unknown, context: string) => void;
}

/** The numbers at one moment; undefined: not known. */
export interface ActivityNumbers {
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** In the minute before. */
  readonly messages: number | undefined;
  readonly failingNodes: number | undefined;
  readonly sessions: number | undefined;
}

/** A sample of the history. */
export interface ActivitySample extends ActivityNumbers {
  /** Grows by one from each to the next. */
  readonly sequence: number;
}

/** The activity as of the last look. */
export interface ActivityState {
  /** Grows whenever something has changed. */
  readonly version: number;
  /** Oldest first. */
  readonly samples: readonly ActivitySample[];
  readonly now: ActivityNumbers;
  readonly health: HealthReport;
  /** The times of the health checks that have run. */
  readonly checkTimes: Health["times"];
  readonly failingNodes: readonly FailingNode[];
  /** How many nodes the graph has. */
  readonly nodes: number;
}

/** A watch of the activity. */
export interface ActivityWatcher {
  /** The activity as of the last look; undefined while the health checks run for the first time. */
  readonly state: ActivityState | undefined;
  /** Ends it. May be called again. */
  close(): void;
}

/**
 * The health, and how busy the application has been for an hour. Everything is read from counters that exist anyway, and only while there
 * are watches and a minute after.
 */
export class Activity {
  readonly #sources: ActivitySources;
  readonly #watchers = new Set<() => void>();
  #course: Course | undefined;
  #ending: NodeJS.Timeout | undefined;

  constructor(sources: ActivitySources) {
    this.#sources = sources;
  }

  /** Calls `wake` whenever there is a new state. */
  watch(wake: () => void): ActivityWatcher {
    // Each has a place of its own, were it the same function.
    const watcher = () => wake();
    this.#watchers.add(watcher);
    clearTimeout(this.#ending);
    this.#course ??= new Course(this.#sources, () => {
      for (const each of this.#watchers) each();
    });
    const course = this.#course;
    return {
      get state() {
        return course.state;
      },
      close: () => {
        if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
        this.#ending = setTimeout(() => this.#end(), LINGER_MS).unref();
      },
    };
  }

  #end(): void {
    this.#course?.end();
    this.#course = undefined;
  }
}

/** The looks from the first watch to a minute after the last. */
class Course {
  state: ActivityState | undefined;
  readonly #sources: ActivitySources;
  readonly #wake: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #stopChecks: () => void;
  readonly #failing = new FailingNodes(MAX_SAMPLES);
  #messages: LastMinute | undefined;
  /** The sum of what nodes have counted while they were watched. */
  #steps = 0;
  #lastSteps = new Map<number, number>();
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sessions: number | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  #isCounting = false;
  #isCountFailing = false;
  #isEnded = false;

  constructor(sources: ActivitySources, wake: () => void) {
    this.#sources = sources;
    this.#wake = wake;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    // While it is listened to, the checks run.
    this.#stopChecks = sources.health.onChange(() => undefined);
    const checked = sources.health.check();
    if (checked instanceof Promise) void checked.then(() => this.#look());
    else this.#look();
  }

  end(): void {
    this.#isEnded = true;
    clearInterval(this.#timer);
    this.#stopChecks();
  }

  #look(): void {
    if (this.#isEnded) return;
    const at = performance.now();
    // A timer may be a little early.
    const isSample = at - this.#sampledAt > SAMPLE_MS - LOOK_MS / 2;
    const nodes = this.#sources.graph?.counts();
    const failing = nodes && this.#failing.look(nodes, at, isSample);
    void this.#countSessions(at);
    const now: ActivityNumbers = {
      time: Date.now(),
      messages: nodes && this.#messagesOf(nodes, at),
      failingNodes: failing?.count,
      sessions: this.#sessions,
    };
    const { version = 0, samples: before = [] } = this.state ?? {};
    const sample = { ...now, sequence: (before.at(-1)?.sequence ?? 0) + 1 };
    const samples = isSample ? [...before, sample].slice(-MAX_SAMPLES) : before;
    if (isSample) this.#sampledAt = at;
    const state = {
      samples,
      now,
      health: this.#sources.health.report,
      checkTimes: this.#sources.health.times,
      failingNodes: failing?.reported ?? [],
      nodes: nodes?.length ?? 0,
    };
    if (this.state !== undefined && isDeepStrictEqual(timeless(this.state), timeless({ ...state, version }))) return;
    this.state = { ...state, version: version + 1 };
    this.#wake();
  }

  /** How many messages the nodes have counted within the last minute. */
  #messagesOf(nodes: readonly NodeCounts[], at: number): number {
    const seen = new Map<number, number>();
    for (const { nodeId, counts } of nodes) {
      // What a node that is new here has counted before is not of this minute.
      this.#steps += Math.max(0, counts.steps - (this.#lastSteps.get(nodeId) ?? counts.steps));
      seen.set(nodeId, counts.steps);
    }
    this.#lastSteps = seen;
    if (this.#messages === undefined) {
      const rate = nodes.reduce((sum, { rates }) => sum + rates.steps, 0);
      this.#steps = rate * 60;
      this.#messages = new LastMinute(at, this.#steps, rate);
    }
    return Math.round(this.#messages.add(at, this.#steps));
  }

  async #countSessions(at: number): Promise<void> {
    const { sessions, onError } = this.#sources;
    if (sessions === undefined || this.#isCounting || at - this.#countedAt < COUNT_MS) return;
    this.#isCounting = true;
    this.#countedAt = at;
    const counting = sessions.count();
    try {
      this.#sessions = await withTimeout(counting, COUNT_TIMEOUT_MS, "Counting the sessions", { background: true });
      this.#isCountFailing = false;
      this.#look();
    } catch (error) {
      this.#sessions = undefined;
      if (!this.#isCountFailing) onError(error, "activity");
      this.#isCountFailing = true;
    }
    await counting.catch(() => undefined);
    this.#isCounting = false;
  }
}

/** A state without what changes by itself. */
function timeless({ now, ...state }: ActivityState) {
  return { ...state, now: { ...now, time: 0 }, samples: state.samples.at(-1)?.sequence, version: 0 };
}
