import { DEFAULT_OTLP, type OtlpOptions } from "../../http/otlp/options.ts";
import type { Notes } from "../setting.ts";

const { maxRequestBytes, maxSpansPerSecond, maxServices, maxNodes, maxAgeMs: maxAge } = DEFAULT_OTLP;

/** What is said of the options of OTLP. */
export const OTLP_NOTES: Notes<OtlpOptions> = {
  maxRequestBytes: { description: "The largest request in bytes, decompressed.", default: maxRequestBytes },
  maxSpansPerSecond: { description: "The most spans a second.", default: maxSpansPerSecond },
  maxServices: { description: "The most services.", default: maxServices },
  maxNodes: { description: "The most components that spans can tell of.", default: maxNodes },
  maxAgeMs: { description: "How long a component outlives its last message.", kind: "milliseconds", default: maxAge },
  brokers: {
    description: 'The brokers of systems whose spans do not tell: { "bullmq": "127.0.0.1:6379/0" }.',
    kind: "texts",
  },
};
