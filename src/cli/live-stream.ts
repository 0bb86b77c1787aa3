import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { CliError, EXIT } from "./error.ts";

/** How many heartbeats may be missed before the connection counts as dead. */
const MAX_MISSED_HEARTBEATS = 3;
/** How long the server may be silent before its first heartbeat has told the interval. */
const MAX_SILENCE_MS = 60_000;

interface LiveEvent {
  readonly $typeName: string;
  readonly event?: { readonly case?: unknown; readonly value?: unknown };
}

/** How a stream is called. */
export interface LiveOptions {
  /** How long to wait for the first event, and at least for each later one, in milliseconds. */
  readonly timeout: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/**
 * Yields the events of a stream that has no end. A connection can die without notice, so that missing heartbeats end the stream.
 *
 * @throws CliError if the server was silent for too long; ConnectError as the call does.
 */
export async function* liveStream<Event extends LiveEvent>(
  call: (options: CallOptions) => AsyncIterable<Event>,
  { timeout, signal }: LiveOptions,
): AsyncGenerator<Event> {
  const silence = new AbortController();
  let maxSilence = timeout;
  const wait = () => setTimeout(() => silence.abort(), maxSilence);
  let timer = wait();
  try {
    const signals = signal === undefined ? [silence.signal] : [signal, silence.signal];
    // A deadline of the call would also end a stream that is alive.
    for await (const event of call({ signal: AbortSignal.any(signals), timeoutMs: 0 })) {
      clearTimeout(timer);
      maxSilence = Math.max(timeout, maxSilenceAfter(event) ?? Math.max(maxSilence, MAX_SILENCE_MS));
      yield event;
      timer = wait();
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    const message = `the server sent nothing for ${durationToText(maxSilence)}: the connection counts as dead`;
    throw new CliError(EXIT.unreachable, message);
  } finally {
    clearTimeout(timer);
    // Over HTTP/2, a call that is left before its end keeps the process alive.
    silence.abort();
  }
}

/** How long to wait after a heartbeat, in milliseconds; undefined for every other event. */
function maxSilenceAfter({ event }: LiveEvent): number | undefined {
  if (event?.case !== "heartbeat") return undefined;
  const { interval } = event.value as { readonly interval?: Duration };
  return interval === undefined ? undefined : MAX_MISSED_HEARTBEATS * durationMs(interval);
}
