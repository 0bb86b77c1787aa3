import { type Checks, count, option, positive, positiveMs, textsLike } from "../../common/options.ts";

/** How spans of other services are received. */
export interface OtlpOptions {
  /** The largest request in bytes, decompressed. Default 4 MiB: batches of SDKs hold 512 spans, some 300 KiB. */
  readonly maxRequestBytes?: number | undefined;
  /**
   * The most spans per second, on average over two seconds. Default 20,000, which take a third of a core; senders of more are
   * asked to retry later. Attributes and other parts of spans count in proportion.
   */
  readonly maxSpansPerSecond?: number | undefined;
  /** The most services, identified by namespace and name. Default 100; spans of further services are rejected. */
  readonly maxServices?: number | undefined;
  /** The most components that are shown. Default 1,000. */
  readonly maxNodes?: number | undefined;
  /** How long a component stays after its last message, in milliseconds. Default 1 hour. */
  readonly maxAgeMs?: number | undefined;
  /**
   * The brokers of messaging systems whose spans do not name their broker, by system: `{ bullmq: "127.0.0.1:6379/0" }`.
   */
  readonly brokers?: { readonly [system: string]: string } | undefined;
}

/** The options with their defaults. */
export type OtlpSettings = { readonly [Name in keyof OtlpOptions]-?: NonNullable<OtlpOptions[Name]> };

/** The options in force unless an application says otherwise. */
export const DEFAULT_OTLP: OtlpSettings = {
  maxRequestBytes: 4 * 1024 * 1024,
  maxSpansPerSecond: 20_000,
  maxServices: 100,
  maxNodes: 1_000,
  maxAgeMs: 3_600_000,
  brokers: {},
};

/** The checks of {@link OtlpOptions}. */
export const OTLP: Checks<OtlpOptions> = {
  maxRequestBytes: option(positive, { default: DEFAULT_OTLP.maxRequestBytes }),
  maxSpansPerSecond: option(positive, { default: DEFAULT_OTLP.maxSpansPerSecond }),
  maxServices: option(count, { default: DEFAULT_OTLP.maxServices }),
  maxNodes: option(count, { default: DEFAULT_OTLP.maxNodes }),
  maxAgeMs: option(positiveMs, { default: DEFAULT_OTLP.maxAgeMs }),
  brokers: textsLike('{ bullmq: "127.0.0.1:6379/0" }'),
};

/** The defaults with these in place of single ones. */
export function otlpSettings(options: OtlpOptions = {}): OtlpSettings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_OTLP, ...Object.fromEntries(given) };
}
