import { setTimeout as delay } from "node:timers/promises";
import { evictionWarnings } from "../../kit/redis/eviction.ts";
import type { RedisCommands } from "../../kit/redis/index.ts";
import { FIRST_KEYS, type KeysPosition } from "../../kit/redis/keys.ts";
import type { SessionIndex } from "../../kit/redis/session-index.ts";
import type { Scanning } from "./searches.ts";
import { indexedOf } from "./session-view.ts";
import type { StoredSession } from "./stored-sessions.ts";

/** How a run is watched and interrupted. */
export interface FillRunOptions {
  /** Only counts what there is. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Starts again, whatever an earlier run has done. Default: false. */
  readonly restart?: boolean | undefined;
  /** Interrupts the run after the current step. What was done stays, and the next run continues there. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch with the counts so far. */
  readonly onProgress?: ((progress: FillProgress) => void) | undefined;
}

/** How far a search through all sessions has come. */
export interface FillProgress {
  /** Keys met so far. One may be met twice. */
  readonly keys: number;
  /** Sessions among them. */
  readonly sessions: number;
  /** Of these, the sessions with a user. */
  readonly users: number;
  /** Where to continue; undefined: it is complete. */
  readonly next: KeysPosition | undefined;
}

/** The result of a run. */
export interface FillResult extends FillProgress {
  /** Whether the index now holds every session. */
  readonly complete: boolean;
  /** Whether it continued an interrupted run. */
  readonly resumed: boolean;
  /** What to change in Redis so that the index stays complete. */
  readonly warnings: readonly string[];
}

/** What a filling works with. */
export interface Filling extends Scanning {
  readonly index: SessionIndex;
}

const START: FillProgress = { keys: 0, sessions: 0, users: 0, next: FIRST_KEYS };
/** How many keys a step takes: some milliseconds of the server's time, between which other clients get their turns. */
const STEP = 250;
/** After how many steps a run notes where the next one would continue. */
const SUSPEND_EVERY = 20;

/** Fills the index with all existing sessions, then claims that it holds them all, unless a write was lost meanwhile. */
export async function runFilling(filling: Filling, options: FillRunOptions = {}): Promise<FillResult> {
  const { dryRun = false, restart = false, signal, onProgress } = options;
  const { claim } = filling.index;
  // A dry run makes no claim, and so writes no marks.
  const basis = dryRun ? "" : await claim.basis();
  const server = await serverRun(filling.stored.redis);
  const from = dryRun || restart ? undefined : resumption(await claim.suspended(basis), server);
  const suspend = async ({ next, ...counts }: FillProgress) => {
    if (dryRun || server === undefined || next === undefined) return;
    await claim.suspend(basis, JSON.stringify({ server, ...counts, next }));
  };
  let progress = from ?? START;
  for (let steps = 1; progress.next !== undefined; steps++) {
    const began = performance.now();
    progress = await fillStep(filling, progress, progress.next, dryRun);
    onProgress?.(progress);
    const over = signal?.aborted === true;
    if (over || steps % SUSPEND_EVERY === 0) await suspend(progress);
    if (over) break;
    // It rests as long as it worked, and so takes at most half of what the server and this process can do.
    if (progress.next !== undefined) await delay(performance.now() - began);
  }
  const done = progress.next === undefined && !dryRun;
  if (done) await claim.make(basis);
  const warnings = await evictionWarnings(filling.stored.redis);
  return { ...progress, complete: done && (await claim.holds()), resumed: from !== undefined, warnings };
}

async function fillStep(
  { stored, keys, view, index }: Filling,
  before: FillProgress,
  position: KeysPosition,
  dryRun: boolean,
): Promise<FillProgress> {
  const { ids, next } = await keys.step(position, STEP);
  const found = (await stored.read([...new Set(ids)])).filter((each): each is StoredSession => each !== undefined);
  const sessions = found.map((each) => indexedOf(view, each));
  if (!dryRun) await index.fill(sessions);
  return {
    keys: before.keys + ids.length,
    sessions: before.sessions + sessions.length,
    users: before.users + sessions.filter(({ username }) => username !== undefined).length,
    next,
  };
}

/**
 * Identifies the run of the server: a walk over its keys cannot continue in another run, whose table has another order.
 * undefined: a cluster, or a user who may not ask.
 */
async function serverRun(redis: RedisCommands): Promise<string | undefined> {
  if (redis.nodes !== undefined) return undefined;
  try {
    return /^run_id:(\w+)/m.exec(String(await redis.command(["INFO", "server"])))?.[1];
  } catch {
    return undefined;
  }
}

function resumption(text: string | undefined, server: string | undefined): FillProgress | undefined {
  if (text === undefined || server === undefined) return undefined;
  const { server: before, ...progress } = JSON.parse(text) as FillProgress & { readonly server: string };
  return before === server ? progress : undefined;
}

const RETRY_AFTER_MS = 60_000;
const RETRY_LARGE_AFTER_MS = 3_600_000;

/**
 * Fills the index in the background if it does not hold every session and there are few enough: one run at a time, and a
 * minute between two. For more sessions there is `prepareConnectRedisSessions`, which an operator starts.
 */
export class BackgroundFilling {
  readonly #filling: Filling;
  readonly #maxSessions: number;
  readonly #stop = new AbortController();
  #running = false;
  #notBefore = 0;

  constructor(filling: Filling, maxSessions: number) {
    this.#filling = filling;
    this.#maxSessions = maxSessions;
  }

  /** Starts a run, unless it is too early. */
  start(): void {
    const now = Date.now();
    if (this.#running || this.#stop.signal.aborted || now < this.#notBefore) return;
    this.#running = true;
    this.#notBefore = now + RETRY_AFTER_MS;
    this.#run()
      .catch(() => {})
      .finally(() => {
        this.#running = false;
      });
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const tooMany = new AbortController();
    const onProgress = ({ sessions }: FillProgress) => {
      if (sessions > this.#maxSessions) tooMany.abort();
    };
    await runFilling(this.#filling, { onProgress, signal: AbortSignal.any([tooMany.signal, this.#stop.signal]) });
    if (tooMany.signal.aborted) this.#notBefore = Date.now() + RETRY_LARGE_AFTER_MS;
  }
}
