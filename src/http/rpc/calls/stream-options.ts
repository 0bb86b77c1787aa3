import { type Checks, countFrom, option, timerMs } from "../../../common/options.ts";

/** The most open streams: watches, held levels, measurements. Further ones are refused with RESOURCE_EXHAUSTED. */
export interface StreamOptions {
  /**
   * The most streams of all callers together; if callers must authenticate, unauthenticated ones get at most half of them.
   * Default 1,000.
   */
  readonly max?: number | undefined;
  /** The most streams of one authenticated caller; unauthenticated callers only share `max`. Default 200. */
  readonly maxPerCaller?: number | undefined;
  /**
   * The longest time that a stream may last, in milliseconds. It ends with UNAVAILABLE, up to a tenth earlier, so that not all
   * clients reconnect at once. Ends the streams of stopped clients, which the server cannot tell from waiting ones over
   * HTTP/1.1. Default 0: no limit.
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
