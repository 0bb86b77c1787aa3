import type { ConnectionState, Fault, ToTab, ToWorker, WatchName } from "./messages.ts";
import type { Input, MethodsOf, Output, ServiceName } from "./services.ts";

/** A call that failed. */
export class CallError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "CallError";
    this.fault = fault;
  }
}

/** What a stream tells its caller. `end` comes once, and last; not after the caller has stopped it. */
export interface StreamHandlers<Message> {
  message(message: Message): void;
  /** The server has refused a watch for now, as while a fleet's engine does not answer. It begins again by itself. */
  interrupted?(fault: Fault): void;
  end(fault: Fault | undefined): void;
}

/** The messages of the watches. */
export interface WatchMessages {
  readonly activity: Output<"application", "watchActivity">;
  readonly loggers: Output<"loggers", "watchLoggers">;
  readonly graph: Output<"graph", "watchIntegrationGraph">;
  readonly fleet: Output<"fleet", "watchInstances">;
  readonly fleetGraph: Output<"fleet", "watchFleetGraph">;
}

/** The tab's end of the connection to the server, which a worker holds for all tabs of this page. */
export class Link {
  readonly #post: (message: ToWorker) => void;
  readonly #handlers = new Map<number, (message: ToTab) => void>();
  #nextId = 1;
  /** Called whenever the state of the connection changes. */
  onConnection: (state: ConnectionState, tabs: number) => void = () => undefined;
  /** Called whenever the server was heard. */
  onHeard: (at: number) => void = () => undefined;

  constructor(port: Pick<MessagePort, "postMessage">, hello: Extract<ToWorker, { type: "hello" }>) {
    this.#post = (message) => port.postMessage(message);
    this.#post(hello);
  }

  /** Called when the worker has taken this tab for closed. */
  onClosed: () => void = () => undefined;

  /** Takes a message from the worker. */
  receive(message: ToTab): void {
    if (message.type === "closed") this.onClosed();
    else if (message.type === "connection") this.onConnection(message.state, message.tabs);
    else if (message.type === "heard") this.onHeard(message.at);
    else this.#handlers.get(message.id)?.(message);
  }

  /**
   * Calls a method with one answer.
   *
   * @throws CallError
   */
  call<N extends ServiceName, M extends MethodsOf<N, "unary">>(
    service: N,
    method: M,
    input: Input<N, M>,
  ): Promise<Output<N, M>> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#handlers.set(id, (message) => {
        this.#handlers.delete(id);
        if (message.type === "result") resolve(message.message as Output<N, M>);
        else if (message.type === "end") reject(new CallError(message.fault!));
      });
      this.#post({ type: "call", id, service, method, input });
    });
  }

  /** Opens a stream of this tab alone: it ends with the tab. Returns a function that ends it. */
  stream<N extends ServiceName, M extends MethodsOf<N, "server_streaming">>(
    service: N,
    method: M,
    input: Input<N, M>,
    handlers: StreamHandlers<Output<N, M>>,
  ): () => void {
    const id = this.#nextId++;
    return this.#open(id, { type: "stream", id, service, method, input }, handlers as StreamHandlers<unknown>);
  }

  /**
   * Follows a watch from a whole snapshot on. It survives interruptions: after one it begins again with a snapshot.
   * `end` comes only if the server refuses it.
   */
  watch<W extends WatchName>(watch: W, handlers: StreamHandlers<WatchMessages[W]>): () => void {
    const id = this.#nextId++;
    return this.#open(id, { type: "watch", id, watch }, handlers as StreamHandlers<unknown>);
  }

  /** Connects at once instead of at the next attempt. */
  retry(): void {
    this.#post({ type: "retry" });
  }

  alive(): void {
    this.#post({ type: "alive" });
  }

  /** Tells the worker that the tab is gone. */
  leave(): void {
    this.#post({ type: "bye" });
  }

  /** Ends everything of this tab, and tells each caller. */
  close(): void {
    this.leave();
    const fault = { code: "CANCELED", reason: "", message: "The connection was closed.", metadata: {} };
    for (const [id, handle] of [...this.#handlers]) handle({ type: "end", id, fault });
  }

  #open(id: number, message: ToWorker, handlers: StreamHandlers<unknown>): () => void {
    this.#handlers.set(id, (answer) => {
      if (answer.type === "message") return handlers.message(answer.message);
      if (answer.type === "interrupted") return handlers.interrupted?.(answer.fault);
      if (answer.type !== "end") return;
      this.#handlers.delete(id);
      handlers.end(answer.fault);
    });
    this.#post(message);
    return () => {
      if (this.#handlers.delete(id)) this.#post({ type: "stop", id });
    };
  }
}
