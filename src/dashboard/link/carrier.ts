import { create, type DescMethod, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { StreamsService } from "../../gen/actuator/v3/streams_pb.ts";
import { faultOf, faultOfEnd } from "./fault.ts";
import type { ConnectionState, Fault } from "./messages.ts";

/** A stream that a carrier has. */
export interface CarriedStream {
  readonly method: DescMethod;
  readonly input: unknown;
  /** Whether it begins again after an interruption. Otherwise it ends with the fault. */
  readonly isWatch: boolean;
  message(message: unknown): void;
  /** The server has refused a watch for now; it begins again soon. */
  interrupted(fault: Fault): void;
  end(fault: Fault | undefined): void;
}

/** What the carrier tells. */
export interface CarrierEvents {
  state(state: ConnectionState): void;
  /** Called whenever the server was heard. */
  heard(): void;
}

/** The longest wait between attempts. */
const MAX_WAIT_MS = 15_000;
/** How long a heartbeat may be late, and how long the first answer may take. */
const GRACE_MS = 5_000;
/** When a watch begins again that has ended by itself. */
const RESUME_MS = 1_000;
/** Reasons for which the same request is refused again and again. */
const REFUSALS = new Set(["UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"]);

/**
 * All streams of this browser over one call of the server, which is opened again when it breaks: after 1, 2, 4 … 15 s, or at once when the
 * browser is online again.
 */
export class Carrier {
  readonly #client;
  readonly #events: CarrierEvents;
  readonly #hadCredentials: boolean;
  readonly #streams = new Map<number, CarriedStream>();
  /** Watches that begin again soon. */
  readonly #resuming = new Map<CarriedStream, ReturnType<typeof setTimeout>>();
  readonly #onOnline = () => this.retry();
  #carrier: string | undefined;
  #abort = new AbortController();
  #silence: ReturnType<typeof setTimeout> | undefined;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #brokenSince: number | undefined;
  #nextStream = 1;
  #isClosed = false;
  state: ConnectionState = { status: "connecting" };

  constructor(transport: Transport, hadCredentials: boolean, events: CarrierEvents) {
    this.#client = createClient(StreamsService, transport);
    this.#hadCredentials = hadCredentials;
    this.#events = events;
    self.addEventListener("online", this.#onOnline);
    void this.#open();
  }

  /** Adds a stream, which begins as soon as the connection is there. Returns its end. */
  add(stream: CarriedStream): () => void {
    this.#enter(stream);
    return () => this.#remove(stream);
  }

  /** Connects now, if it waits for the next attempt. */
  retry(): void {
    const isRefused = this.state.status === "refused";
    if (this.#isClosed || (this.#wait === undefined && !isRefused)) return;
    clearTimeout(this.#wait);
    this.#wait = undefined;
    if (isRefused) this.#set({ status: "connecting" });
    void this.#open();
  }

  close(): void {
    this.#isClosed = true;
    self.removeEventListener("online", this.#onOnline);
    clearTimeout(this.#wait);
    clearTimeout(this.#silence);
    for (const timer of this.#resuming.values()) clearTimeout(timer);
    this.#abort.abort();
  }

  async #open(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    let fault: Fault = {
      code: "UNAVAILABLE",
      reason: "",
      message: "The server has ended the connection.",
      metadata: {},
    };
    try {
      let silenceMs = 2 * GRACE_MS;
      this.#expect(abort, silenceMs);
      for await (const { event, heartbeatInterval } of this.#client.open({}, { signal: abort.signal })) {
        if (heartbeatInterval !== undefined) silenceMs = Number(heartbeatInterval.seconds) * 1_000 + GRACE_MS;
        this.#expect(abort, silenceMs);
        this.#events.heard();
        if (event.case === "carrier") this.#live(event.value);
        else if (event.case === "message") this.#take(event.value.stream, event.value.message);
        else if (event.case === "end") this.#ended(event.value.stream, faultOfEnd(event.value));
      }
    } catch (error) {
      fault = faultOf(error);
    }
    if (!this.#isClosed && this.#abort === abort) this.#broken(fault);
  }

  /** A connection that is silent for longer is broken, though no network error says so. */
  #expect(abort: AbortController, ms: number): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => abort.abort(), ms);
  }

  #live(carrier: string): void {
    this.#carrier = carrier;
    this.#attempt = 0;
    this.#brokenSince = undefined;
    this.#set({ status: "live", since: Date.now() });
    for (const [number, stream] of this.#streams) void this.#start(number, stream, carrier);
  }

  async #start(number: number, stream: CarriedStream, carrier: string): Promise<void> {
    const { method, input } = stream;
    try {
      const message = create(method.input, input as MessageInitShape<typeof method.input>);
      const request = toBinary(method.input, message);
      await this.#client.start({
        carrier,
        stream: number,
        method: `${method.parent.typeName}/${method.name}`,
        request,
      });
      // A stop that overtook the start found no stream.
      if (this.#streams.get(number) !== stream && carrier === this.#carrier) this.#stop(number);
    } catch (error) {
      // With a new carrier it is started again.
      if (carrier === this.#carrier) this.#ended(number, faultOf(error));
    }
  }

  #take(number: number, bytes: Uint8Array): void {
    const stream = this.#streams.get(number);
    stream?.message(fromBinary(stream.method.output, bytes));
  }

  #enter(stream: CarriedStream): void {
    const number = this.#nextStream++;
    this.#streams.set(number, stream);
    if (this.#carrier !== undefined) void this.#start(number, stream, this.#carrier);
  }

  #remove(stream: CarriedStream): void {
    clearTimeout(this.#resuming.get(stream));
    this.#resuming.delete(stream);
    for (const [number, each] of this.#streams) {
      if (each !== stream) continue;
      this.#streams.delete(number);
      this.#stop(number);
    }
  }

  #stop(stream: number): void {
    const carrier = this.#carrier;
    // If this fails, the connection is broken, and the stream has ended with it.
    if (carrier !== undefined) this.#client.stop({ carrier, stream }).catch(() => undefined);
  }

  #ended(number: number, fault: Fault | undefined): void {
    const stream = this.#streams.get(number);
    if (stream === undefined) return;
    this.#streams.delete(number);
    const isOver = !stream.isWatch || (fault !== undefined && REFUSALS.has(fault.code));
    if (isOver) {
      stream.end(fault);
      return;
    }
    // Such as one that has reached its greatest age. It gets a new number, since messages of the former may be under way.
    this.#resuming.set(
      stream,
      setTimeout(() => this.#resume(stream), RESUME_MS),
    );
    if (fault !== undefined) stream.interrupted(fault);
  }

  #resume(stream: CarriedStream): void {
    this.#resuming.delete(stream);
    this.#enter(stream);
  }

  #broken(fault: Fault): void {
    clearTimeout(this.#silence);
    this.#carrier = undefined;
    for (const [number, stream] of this.#streams) {
      if (stream.isWatch) continue;
      this.#streams.delete(number);
      stream.end({ ...fault, code: REFUSALS.has(fault.code) ? fault.code : "UNAVAILABLE" });
    }
    if (REFUSALS.has(fault.code)) {
      this.#set({ status: "refused", fault, hadCredentials: this.#hadCredentials });
      // A proxy answers so while the service starts. Credentials are not tried again, since failures are limited.
      if (fault.code !== "UNAUTHENTICATED") this.#wait = setTimeout(() => this.retry(), MAX_WAIT_MS);
      return;
    }
    const since = (this.#brokenSince ??= Date.now());
    // Pages that lost the server together should not come back together.
    const wait = Math.min(MAX_WAIT_MS, 1_000 * 2 ** this.#attempt++) * (0.8 + 0.4 * Math.random());
    const isDraining = fault.reason === "SHUTTING_DOWN";
    this.#set({ status: "offline", since, retryAt: Date.now() + wait, isDraining });
    this.#wait = setTimeout(() => this.retry(), wait);
  }

  #set(state: ConnectionState): void {
    this.state = state;
    this.#events.state(state);
  }
}
