/** What the graph reads of a span. The SDK's `ReadableSpan` is one. */
export interface Span {
  readonly name: string;
  /** As {@link SpanKind}. */
  readonly kind: number;
  readonly attributes: { readonly [name: string]: unknown };
  readonly status: { readonly code: number };
  readonly events: readonly { readonly name: string }[];
  readonly instrumentationScope: { readonly name: string };
}

/** The kinds as the API numbers them; those of OTLP are greater by one. */
export const SpanKind = { INTERNAL: 0, SERVER: 1, CLIENT: 2, PRODUCER: 3, CONSUMER: 4 } as const;

/** The status code of a failure, in the API and in OTLP. */
const ERROR = 2;

/** An exception that was recorded; BullMQ leaves the status of a failed job alone, and records that it failed. */
export const FAILURE_EVENTS: ReadonlySet<string> = new Set(["exception", "job failed"]);

/** Whether what the span stands for failed. */
export function hasFailed({ status, attributes, events }: Span): boolean {
  if (status.code === ERROR || attributes["error.type"] !== undefined) return true;
  for (let index = 0; index < events.length; index++) if (FAILURE_EVENTS.has(events[index]!.name)) return true;
  return false;
}

/** An attribute that is a text and not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
