import type { ConnectError } from "@connectrpc/connect";
import { ActuatorError } from "../../common/error.ts";
import { errorToRpc } from "./error.ts";
import { DEFAULT_STREAMS, type StreamOptions } from "./stream-options.ts";

type Interrupt = (reason: ConnectError) => void;

/** What is known of a stream. */
export interface OpenStream {
  /** What was called: `actuator.v3.LoggersService/WatchLoggers`. */
  readonly method: string;
  /** Who said who they are. */
  readonly caller?: string | undefined;
  /** Whether they would still be let in: where not, the stream ends with UNAUTHENTICATED, some seconds late at most. */
  readonly holds?: () => boolean;
  /**
   * Whether others said who they are and this one did not: such streams take half of the places at most, so that a crowd that
   * watches the health, which everybody may, keeps no operator from watching.
   */
  readonly isAnonymous?: boolean;
}

/** How long at most a stream goes on whose caller would no longer be let in, or whose time is over. */
const LOOK_MS = 2_000;

/** The part of their time by which streams end early, each at random: those that began together should not return together. */
const SPREAD = 0.1;

/** The streaming calls that are open: bounded in number, each caller's too, and ended together when the process drains. */
export class OpenStreams {
  readonly #max: number;
  readonly #maxPerCaller: number;
  readonly #maxAgeMs: number;
  readonly #perCaller = new Map<string, number>();
  readonly #open = new Map<Interrupt, OpenStream & { readonly endsAt: number }>();
  #strangers = 0;
  #watch: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: StreamOptions = {}) {
    const { max, maxPerCaller, maxAgeMs } = DEFAULT_STREAMS;
    this.#max = options.max ?? max;
    this.#maxPerCaller = options.maxPerCaller ?? maxPerCaller;
    this.#maxAgeMs = (options.maxAgeMs ?? maxAgeMs) || Number.POSITIVE_INFINITY;
  }

  /** How many are open of this method. */
  sizeOf(method: string): number {
    let size = 0;
    for (const stream of this.#open.values()) if (stream.method === method) size++;
    return size;
  }

  /**
   * Counts a stream in until the returned function is called.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED where too many are open, ConnectError UNAVAILABLE once the streams have ended.
   */
  add(interrupt: Interrupt, stream: OpenStream): () => void {
    const { caller, isAnonymous = false } = stream;
    if (this.#ended) throw unavailable();
    if (this.#open.size >= this.#max) throw tooMany(`${this.#max} streams are open`, "streams.max");
    if (isAnonymous && this.#strangers >= this.#max / 2)
      throw tooMany("Half of all streams are strangers'", "streams.max");
    const own = caller === undefined ? 0 : (this.#perCaller.get(caller) ?? 0);
    if (own >= this.#maxPerCaller) throw tooMany(`The caller has ${own} open streams`, "streams.maxPerCaller");
    const endsAt = performance.now() + this.#maxAgeMs * (1 - SPREAD * Math.random());
    this.#open.set(interrupt, { ...stream, endsAt });
    this.#watch ??= setInterval(() => this.#endOver(), LOOK_MS).unref();
    if (caller !== undefined) this.#perCaller.set(caller, own + 1);
    if (isAnonymous) this.#strangers++;
    return () => {
      if (this.#open.delete(interrupt)) {
        if (caller !== undefined) this.#leave(caller);
        if (isAnonymous) this.#strangers--;
      }
      if (this.#open.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    };
  }

  #endOver(): void {
    const now = performance.now();
    for (const [interrupt, { holds, endsAt }] of this.#open) {
      if (holds?.() === false) interrupt(revoked());
      else if (now > endsAt) interrupt(tooOld());
    }
  }

  #leave(caller: string): void {
    const left = this.#perCaller.get(caller)! - 1;
    if (left === 0) this.#perCaller.delete(caller);
    else this.#perCaller.set(caller, left);
  }

  /** Ends every stream with UNAVAILABLE, so that its client goes elsewhere, and takes no new one. */
  end(): void {
    this.#ended = true;
    // One turn later: what was said to the watchers just before, such as NOT_SERVING, still reaches them.
    setImmediate(() => {
      for (const interrupt of this.#open.keys()) interrupt(unavailable());
    });
  }
}

function tooMany(what: string, option: string): ActuatorError {
  const message = `${what}; no more are taken (option ${option}).`;
  return new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS", message);
}

function revoked(): ConnectError {
  const message = "What the caller showed counts no more.";
  return errorToRpc(new ActuatorError("UNAUTHENTICATED", "CREDENTIALS_REVOKED", message));
}

function tooOld(): ConnectError {
  const message = "The stream has gone on for as long as it may (option streams.maxAgeMs); begin it again.";
  return errorToRpc(new ActuatorError("UNAVAILABLE", "STREAM_TOO_OLD", message));
}

function unavailable(): ConnectError {
  return errorToRpc(new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "The server is shutting down."));
}
