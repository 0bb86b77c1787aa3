import { Code, ConnectError } from "@connectrpc/connect";
import { ActuatorError } from "../error.ts";

/** The streaming calls that are open: bounded in number, and ended together when the process drains. */
export class OpenStreams {
  readonly #max: number;
  readonly #open = new Set<(reason: ConnectError) => void>();
  #ended = false;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Counts a stream in until the returned function is called.
   *
   * @throws ActuatorError RESOURCE_EXHAUSTED where too many are open, ConnectError UNAVAILABLE once the streams have ended.
   */
  add(interrupt: (reason: ConnectError) => void): () => void {
    if (this.#ended) throw unavailable();
    if (this.#open.size >= this.#max) {
      const message = `${this.#max} streams are open; no more are taken (option maxStreams).`;
      throw new ActuatorError("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS", message);
    }
    this.#open.add(interrupt);
    return () => this.#open.delete(interrupt);
  }

  /** Ends every stream with UNAVAILABLE, so that its client goes elsewhere, and takes no new one. */
  end(): void {
    this.#ended = true;
    // One turn later: what was said to the watchers just before, such as NOT_SERVING, still reaches them.
    setImmediate(() => {
      for (const interrupt of this.#open) interrupt(unavailable());
    });
  }
}

function unavailable(): ConnectError {
  return new ConnectError("The server is shutting down.", Code.Unavailable);
}
