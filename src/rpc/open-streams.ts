import type { ConnectError } from "@connectrpc/connect";
import { ActuatorError } from "../error.ts";
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
  readonly isStranger?: boolean;
}

/** How long a stream goes on whose caller would no longer be let in. */
const REVOKED_AFTER_MS = 2_000;

/** The streaming calls that are open: bounded in number, each caller's too, and ended together when the process drains. */
export class OpenStreams {
  readonly #max: number;
  readonly #maxPerCaller: number;
  readonly #perCaller = new Map<string, number>();
  readonly #open = new Map<Interrupt, OpenStream>();
  #strangers = 0;
  #watch: NodeJS.Timeout | undefined;
  #ended = false;

  constructor({ max = DEFAULT_STREAMS.max, maxPerCaller = DEFAULT_STREAMS.maxPerCaller }: StreamOptions = {}) {
    this.#max = max;
    this.#maxPerCaller = maxPerCaller;
  }

  get size(): number {
    return this.#open.size;
  }

  /** How many there are of this method. */
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
    const { caller, isStranger = false } = stream;
    if (this.#ended) throw unavailable();
    if (this.#open.size >= this.#max) throw tooMany(`${this.#max} streams are open`, "streams.max");
    if (isStranger && this.#strangers >= this.#max / 2)
      throw tooMany("Half of all streams are strangers'", "streams.max");
    const own = caller === undefined ? 0 : (this.#perCaller.get(caller) ?? 0);
    if (own >= this.#maxPerCaller) throw tooMany(`The caller has ${own} open streams`, "streams.maxPerCaller");
    this.#open.set(interrupt, stream);
    this.#watch ??= setInterval(() => this.#endRevoked(), REVOKED_AFTER_MS).unref();
    if (caller !== undefined) this.#perCaller.set(caller, own + 1);
    if (isStranger) this.#strangers++;
    return () => {
      if (this.#open.delete(interrupt)) {
        if (caller !== undefined) this.#leave(caller);
        if (isStranger) this.#strangers--;
      }
      if (this.#open.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    };
  }

  #endRevoked(): void {
    for (const [interrupt, { holds }] of this.#open) {
      if (holds?.() === false) interrupt(revoked());
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

function unavailable(): ConnectError {
  return errorToRpc(new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "The server is shutting down."));
}
