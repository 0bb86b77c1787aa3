import type { RedisCommands } from "../../kit/redis/client.ts";
import { FILL_START, type Filling, type FillProgress, fillIndex } from "./filling.ts";

/** How a run is watched and broken off. */
export interface FillRunOptions {
  /** Only counts what there is. */
  readonly dryRun?: boolean | undefined;
  /** Begins anew, whatever an earlier run has done. */
  readonly restart?: boolean | undefined;
  /** Breaks the run off after the step under way. What was done stays, and the next run goes on there. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FillProgress) => void) | undefined;
}

/** What a run has done. */
export interface FillResult extends FillProgress {
  /** Whether the index now holds every session. */
  readonly complete: boolean;
  /** Whether it went on where an earlier run was broken off. */
  readonly resumed: boolean;
}

/** After so many steps a run says where the next one would go on. */
const SUSPEND_EVERY = 20;

/** Fills the index with all sessions there are and then claims that it holds them all, unless a write failed meanwhile. */
export async function runFilling(filling: Filling, options: FillRunOptions = {}): Promise<FillResult> {
  const { dryRun = false, restart = false, signal, onProgress } = options;
  const { claim } = filling.index;
  const basis = await claim.basis();
  const server = await serverRun(filling.stored.redis);
  const from = dryRun || restart ? undefined : resumption(await claim.suspended(basis), server);
  const suspend = async ({ next, ...counts }: FillProgress) => {
    if (dryRun || server === undefined || next === undefined) return;
    await claim.suspend(basis, JSON.stringify({ server, ...counts, next }));
  };
  let progress = from ?? FILL_START;
  let steps = 0;
  for await (progress of fillIndex(filling, progress, dryRun)) {
    onProgress?.(progress);
    const over = signal?.aborted === true;
    if (over || ++steps % SUSPEND_EVERY === 0) await suspend(progress);
    if (over) break;
  }
  const done = progress.next === undefined && !dryRun;
  if (done) await claim.make(basis);
  return { ...progress, complete: done && (await claim.holds()), resumed: from !== undefined };
}

/**
 * Stands for the run of the server: a walk over its keys cannot go on in another, whose table has another order. undefined:
 * a cluster, or a user who may not ask.
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
