import { randomBytes } from "node:crypto";
import { ActuatorError } from "../../common/error.ts";
import type { LiveSource } from "./streams.ts";

/** A stream to carry: its messages in binary form. `return()` ends it. */
export type CarriedMessages = AsyncIterable<Uint8Array>;

/** What happens on a carrier, in the order in which it is sent. */
export type CarrierEvent =
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: "message"; readonly stream: number; readonly message: Uint8Array }
  | { readonly type: "ended"; readonly stream: number; readonly error: unknown };

/** The most streams of a carrier. */
const MAX_STREAMS = 200;

/** A stream under way, with the event that waits to be sent. */
interface Carried {
  readonly stop: AbortController;
  event: CarrierEvent | undefined;
  /** Called when the event has been sent. */
  sent: (() => void) | undefined;
}

/**
 * Many streams over one call. Each has at most one message waiting, and they take turns, so that a stopped reader costs little and a flood
 * holds up no other stream.
 */
export class Carrier implements Omit<LiveSource<CarrierEvent>, "heartbeat"> {
  /** A credential: only the caller who has opened the carrier learns it, and only that caller can use it. */
  readonly id = randomBytes(16).toString("base64url");
  readonly #streams = new Map<number, Carried>();
  readonly #onClose: () => void;
  #isAnnounced = false;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  /**
   * Carries a stream.
   *
   * @param open begins it; aborting the signal ends it
   * @throws ActuatorError INVALID_ARGUMENT for a number in use, RESOURCE_EXHAUSTED if there are too many
   */
  start(stream: number, open: (signal: AbortSignal) => CarriedMessages): void {
    if (this.#streams.has(stream)) {
      const message = `The carrier has a stream with the number ${stream} already.`;
      throw new ActuatorError("INVALID_ARGUMENT", "STREAM_IN_USE", message, { field: "stream" });
    }
    if (this.#streams.size >= MAX_STREAMS) {
      const message = `The carrier has ${MAX_STREAMS} streams, which is the limit.`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS", message);
    }
    const carried: Carried = { stop: new AbortController(), event: undefined, sent: undefined };
    this.#streams.set(stream, carried);
    void this.#carry(stream, carried, open(carried.stop.signal));
  }

  /** Ends a stream; nothing more of it is sent. */
  stop(stream: number): void {
    const carried = this.#streams.get(stream);
    this.#streams.delete(stream);
    carried?.stop.abort();
    carried?.sent?.();
  }

  open(wake: () => void): void {
    this.#wake = wake;
  }

  take(): CarrierEvent | undefined {
    if (!this.#isAnnounced) {
      this.#isAnnounced = true;
      return { type: "opened", id: this.id };
    }
    for (const [stream, carried] of this.#streams) {
      const { event, sent } = carried;
      if (event === undefined) continue;
      carried.event = undefined;
      this.#streams.delete(stream);
      // To the end: the others come first.
      if (event.type !== "ended") this.#streams.set(stream, carried);
      sent?.();
      return event;
    }
    return undefined;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const stream of [...this.#streams.keys()]) this.stop(stream);
    this.#onClose();
  }

  async #carry(stream: number, carried: Carried, messages: CarriedMessages): Promise<void> {
    const { signal } = carried.stop;
    const send = (event: CarrierEvent) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        carried.event = event;
        carried.sent = resolve;
        this.#wake();
      });
    try {
      for await (const message of messages) {
        await send({ type: "message", stream, message });
        if (signal.aborted) return;
      }
      await send({ type: "ended", stream, error: undefined });
    } catch (error) {
      await send({ type: "ended", stream, error });
    }
  }
}
