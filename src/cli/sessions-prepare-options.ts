import type { GlobalOptions } from "./global-options.ts";

/** What `sessions prepare` takes; some of it for one store only. */
export interface PrepareOptions extends Pick<GlobalOptions, "json" | "timeout"> {
  readonly principal?: readonly [string, ...string[]][];
  readonly dryRun?: boolean;
  readonly table?: string;
  readonly schema?: string;
  readonly remove?: boolean;
  readonly prefix?: string;
  readonly indexPrefix?: string;
  readonly ttl?: number;
  readonly restart?: boolean;
}
