import type { ConnectError } from "@connectrpc/connect";
import { ActuatorError } from "../../../common/error.ts";
import type { Gate } from "../../gate/gate.ts";
import type { RequestContext } from "../../gate/request-context.ts";
import { errorToRpc } from "./error.ts";
import { DEFAULT_STREAMS, type StreamOptions } from "./stream-options.ts";

type Interrupt = (reason: ConnectError) => void;

/** An open stream. */
export interface OpenStream {
  /** The method: `actuator.v3.LoggersService/WatchLoggers`. */
  readonly method: string;
  /** The key of an authenticated caller. */
  readonly caller?: string | undefined;
  /** Why the caller's credentials are no longer valid, if so; then the stream ends with this error within seconds. */
  readonly credentialsFault?: () => ActuatorError | undefined;
  /**
   * Whether callers must authenticate and this one did not. Such streams may be half of all at most, so that public watches of the health
   * cannot lock operators out.
   */
  readonly isAnonymous?: boolean;
}

/** The stream of a call that the gate has admitted. */
export function openStream(context: RequestContext, gate: Pick<Gate, "credentialsFault" | "isAnonymous">): OpenStream {
  const { caller, operation } = context;
  // Anonymous callers cannot be told apart.
  const isKnown = caller !== undefined && caller.authentication !== "none";
  return {
    method: operation,
    caller: isKnown ? `${caller.authentication} ${caller.name}` : undefined,
    credentialsFault: () => gate.credentialsFault(context),
    isAnonymous: gate.isAnonymous(context),
  };
}

/** The interval at which open streams are checked for invalid credentials and their maximum age. */
const CHECK_MS = 2_000;

/** The maximum part of their age by which streams end early, at random: clients that began together should not reconnect together. */
const SPREAD = 0.1;

/** The open streaming calls: limited in total and per caller, and ended together when the process drains. */
export class OpenStreams {
  readonly #max: number;
  readonly #maxPerCaller: number;
  readonly #maxAgeMs: number;
  readonly #perCaller = new Map<string, number>();
  readonly #open = new Map<Interrupt, OpenStream & { readonly endsAt: number }>();
  #anonymous = 0;
  #watch: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: StreamOptions = {}) {
    const { max, maxPerCaller, maxAgeMs } = DEFAULT_STREAMS;
    this.#max = options.max ?? max;
    this.#maxPerCaller = options.maxPerCaller ?? maxPerCaller;
    this.#maxAgeMs = (options.maxAgeMs ?? maxAgeMs) || Number.POSITIVE_INFINITY;
  }

  /** The number of open streams of a method. */
  sizeOf(method: string): number {
    let size = 0;
    for (const stream of this.#open.values()) if (stream.method === method) size++;
    return size;
  }

  /**
   * Adds a stream until the returned function is called.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED if too many are open, ConnectError UNAVAILABLE after {@link end}
   */
  add(interrupt: Interrupt, stream: OpenStream): () => void {
    const { caller, isAnonymous = false } = stream;
    if (this.#ended) throw unavailable();
    if (this.#open.size >= this.#max) throw tooMany(`${this.#max} streams are open`, "streams.max");
    if (isAnonymous && this.#anonymous >= this.#max / 2)
      throw tooMany("Anonymous callers have half of all streams open", "streams.max");
    const own = caller === undefined ? 0 : (this.#perCaller.get(caller) ?? 0);
    if (own >= this.#maxPerCaller) throw tooMany(`The caller has ${own} open streams`, "streams.maxPerCaller");
    const endsAt = performance.now() + this.#maxAgeMs * (1 - SPREAD * Math.random());
    this.#open.set(interrupt, { ...stream, endsAt });
    this.#watch ??= setInterval(() => this.#check(), CHECK_MS).unref();
    if (caller !== undefined) this.#perCaller.set(caller, own + 1);
    if (isAnonymous) this.#anonymous++;
    return () => {
      if (this.#open.delete(interrupt)) {
        if (caller !== undefined) this.#leave(caller);
        if (isAnonymous) this.#anonymous--;
      }
      if (this.#open.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    };
  }

  #check(): void {
    const now = performance.now();
    // The latest first: a carrier is older than what it carries, which ends for this reason, too, and not with the carrier.
    for (const [interrupt, { credentialsFault, endsAt }] of [...this.#open].reverse()) {
      const fault = credentialsFault?.();
      if (fault !== undefined) interrupt(errorToRpc(fault));
      else if (now > endsAt) interrupt(tooOld());
    }
  }

  #leave(caller: string): void {
    const left = this.#perCaller.get(caller)! - 1;
    if (left === 0) this.#perCaller.delete(caller);
    else this.#perCaller.set(caller, left);
  }

  /** Ends every stream with UNAVAILABLE, so that clients choose another instance, and refuses new ones. */
  end(): void {
    this.#ended = true;
    // One turn later, so that events of just before, such as NOT_SERVING, still reach the clients.
    setImmediate(() => {
      for (const interrupt of [...this.#open.keys()].reverse()) interrupt(unavailable());
    });
  }
}

function tooMany(what: string, option: string): ActuatorError {
  const message = `${what}, which is the limit (option ${option}).`;
  return new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS", message);
}

function tooOld(): ConnectError {
  const message = "The stream has reached its maximum age (option streams.maxAgeMs). Open it again.";
  return errorToRpc(new ActuatorError("UNAVAILABLE", "STREAM_TOO_OLD", message));
}

function unavailable(): ConnectError {
  return errorToRpc(new ActuatorError("UNAVAILABLE", "SHUTTING_DOWN", "The server is shutting down."));
}
