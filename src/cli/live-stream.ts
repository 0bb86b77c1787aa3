import { type Duration, durationMs } from "@bufbuild/protobuf/wkt";
import type { CallOptions } from "@connectrpc/connect";
import { durationToText } from "../common/duration.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-code.ts";

/** How many heartbeats may fail to come before the server is taken for dead. */
const MISSED = 3;
/** How long it may be silent before it has said how often its heart beats. */
const SILENCE_MS = 60_000;

interface LiveEvent {
  readonly event: { readonly case?: unknown; readonly value?: unknown };
}

/** How a stream is called. */
export interface LiveOptions {
  /** How long to wait for the first event, and for any other at least, in milliseconds. */
  readonly timeout: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/**
 * The events of a stream that goes on for as long as somebody listens. A connection can die without a word, so that only
 * silence tells: heartbeats are counted on.
 *
 * @throws CliError where nothing was heard for too long, ConnectError as the call does.
 */
export async function* liveStream<Event extends LiveEvent>(
  call: (options: CallOptions) => AsyncIterable<Event>,
  { timeout, signal }: LiveOptions,
): AsyncGenerator<Event> {
  const silence = new AbortController();
  let patience = timeout;
  const wait = () => setTimeout(() => silence.abort(), patience);
  let timer = wait();
  try {
    const signals = signal === undefined ? [silence.signal] : [signal, silence.signal];
    // A deadline of the call would end it, however lively it is.
    for await (const event of call({ signal: AbortSignal.any(signals), timeoutMs: 0 })) {
      clearTimeout(timer);
      patience = Math.max(timeout, heartbeatOf(event) ?? Math.max(patience, SILENCE_MS));
      yield event;
      timer = wait();
    }
  } catch (error) {
    if (!silence.signal.aborted) throw error;
    const message = `nothing was heard from the server for ${durationToText(patience)}: the connection is taken for dead`;
    throw new CliError(EXIT.unreachable, message);
  } finally {
    clearTimeout(timer);
  }
}

/** How long to wait after a heartbeat, in milliseconds; undefined for every other event. */
function heartbeatOf({ event }: LiveEvent): number | undefined {
  if (event.case !== "heartbeat") return undefined;
  const { interval } = event.value as { readonly interval?: Duration };
  return interval === undefined ? undefined : MISSED * durationMs(interval);
}
