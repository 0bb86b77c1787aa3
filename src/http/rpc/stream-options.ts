import { type Checks, countFrom, option, timerMs } from "../../common/options.ts";

/** How many streams there may be: watches, held levels, measurements. Further ones are RESOURCE_EXHAUSTED. */
export interface StreamOptions {
  /** Of all callers together; if callers must authenticate, at most half of it for unauthenticated ones. Default 1,000. */
  readonly max?: number | undefined;
  /** Of one authenticated caller; unauthenticated ones only share `max`. Default 200. */
  readonly maxPerCaller?: number | undefined;
  /**
   * How long a stream may last, in milliseconds; then it ends with UNAVAILABLE, some up to a tenth earlier, so that not all clients
   * reconnect at once. For stopped clients, which over HTTP/1.1 look the same as waiting ones. Default 0: no limit.
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
