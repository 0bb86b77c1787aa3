import { type Checks, callable, countFrom, listOf, option, text } from "../common/options.ts";
import type { LogRecord } from "./record.ts";

/** How records are shown to callers with the permission `logs:read`. */
export interface LogsOptions {
  /**
   * More names of fields whose values are secret, in any case and at any depth, besides `password`, `token`, `authorization`,
   * `cookie` and the like.
   */
  readonly redactKeys?: readonly string[] | undefined;
  /**
   * Returns what is shown of a record, for secrets in messages; undefined to show nothing of it. If it throws, the record is not
   * shown.
   */
  readonly redact?: ((record: LogRecord) => LogRecord | undefined) | undefined;
  /** The most additional records in a second that a raised level may make; beyond it the level is restored. Default 2,000. */
  readonly maxRaisedPerSecond?: number | undefined;
  /** The most open tails. Default 200. */
  readonly maxTails?: number | undefined;
}

/** The numbers in force unless an application says otherwise. */
export const DEFAULT_LOGS = { maxRaisedPerSecond: 2_000, maxTails: 200 };

/** The checks of {@link LogsOptions}. */
export const LOGS: Checks<LogsOptions> = {
  redactKeys: listOf(text),
  redact: callable,
  maxRaisedPerSecond: option(countFrom(1), { default: DEFAULT_LOGS.maxRaisedPerSecond }),
  maxTails: option(countFrom(1), { default: DEFAULT_LOGS.maxTails }),
};
