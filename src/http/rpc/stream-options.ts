import { type Checks, countFrom, option, timerMs } from "../../common/options.ts";

/** How many streams there may be: watches, held levels, measurements. Further ones are RESOURCE_EXHAUSTED. */
export interface StreamOptions {
  /** Of all callers together; where they are asked who they are, half of it at most of those who did not say. Default 1,000. */
  readonly max?: number | undefined;
  /** Of one caller who said who they are; others share the number of all. Default 200. */
  readonly maxPerCaller?: number | undefined;
  /**
   * How long one may go on, in milliseconds; then it ends with UNAVAILABLE, some of them a tenth earlier, so that not all come
   * again at once. For clients that stand still: over HTTP/1.1 nothing tells them from those who wait. Default 0: no limit.
   */
  readonly maxAgeMs?: number | undefined;
}

/** The numbers in force unless an application says otherwise. */
export const DEFAULT_STREAMS = { max: 1_000, maxPerCaller: 200, maxAgeMs: 0 } as const;

/** The checks of {@link StreamOptions}. */
export const STREAMS: Checks<StreamOptions> = {
  max: option(countFrom(1), { default: DEFAULT_STREAMS.max }),
  maxPerCaller: option(countFrom(1), { default: DEFAULT_STREAMS.maxPerCaller }),
  maxAgeMs: option(timerMs, { default: DEFAULT_STREAMS.maxAgeMs }),
};
