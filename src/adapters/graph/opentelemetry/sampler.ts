import type { Sampler, SamplingResult } from "@opentelemetry/sdk-trace-base";

/** The decisions of a sampler, as the SDK numbers them. */
const NOT_RECORD = 0;
const RECORD = 1;

/**
 * A sampler that exports what `sampler` exports and records everything else as well, so that the graph counts every message:
 * `new BasicTracerProvider({ sampler: recordAll(new ParentBasedSampler({ root })), … })`. It belongs outermost.
 *
 * Spans that are recorded cost about what they do where all are sampled, but for their export.
 */
export function recordAll(sampler: Sampler): Sampler {
  return {
    shouldSample(...args): SamplingResult {
      const result = sampler.shouldSample(...args);
      return result.decision === NOT_RECORD ? { ...result, decision: RECORD } : result;
    },
    toString: () => `RecordAll{${sampler.toString()}}`,
  };
}
