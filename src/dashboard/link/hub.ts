import type { DescMethod } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { ApplicationService } from "../../gen/actuator/v3/application_pb.ts";
import { FleetService } from "../../gen/actuator/v3/fleet_pb.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../gen/actuator/v3/logs_pb.ts";
import { SessionsService } from "../../gen/actuator/v3/sessions_pb.ts";
import { Carrier } from "./carrier.ts";
import { faultOf } from "./fault.ts";
import type { ToTab, ToWorker, WatchName } from "./messages.ts";
import type { ServiceName, Services } from "./services.ts";
import { binaryTransport } from "./transport.ts";

const SERVICES: Services = {
  application: ApplicationService,
  loggers: LoggersService,
  logs: LogsService,
  sessions: SessionsService,
  graph: IntegrationGraphService,
  fleet: FleetService,
};

const WATCHES: Readonly<Record<WatchName, readonly [DescMethod, object]>> = {
  activity: [ApplicationService.method.watchActivity, {}],
  loggers: [LoggersService.method.watchLoggers, { compact: true }],
  graph: [IntegrationGraphService.method.watchIntegrationGraph, {}],
  fleet: [FleetService.method.watchInstances, {}],
  fleetGraph: [FleetService.method.watchFleetGraph, {}],
};

/** A tab says every 20 s that it is there; browsers slow the timers of hidden tabs down to one a minute. */
const TAB_SILENCE_MS = 180_000;
/** The state bar shows tenths of a second, and needs no more. */
const HEARD_MS = 250;

/** One tab, as the worker sees it. */
export interface Tab {
  receive(message: ToWorker): void;
  close(): void;
}

type Post = (message: ToTab) => void;

/** The connections of the worker, by address and credentials: tabs that have the same share one. */
export class Hubs {
  readonly #hubs = new Map<string, Hub>();

  /** A tab that has just appeared. Its first message says where it wants to connect. */
  tab(post: Post): Tab {
    let leave: (() => void) | undefined;
    let hub: Hub | undefined;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const stops = new Map<number, () => void>();
    const close = () => {
      clearTimeout(silence);
      for (const stop of stops.values()) stop();
      stops.clear();
      leave?.();
      leave = undefined;
    };
    return {
      close,
      receive: (message) => {
        // It was taken for closed while it slept, and its streams are gone.
        if (leave === undefined && message.type !== "hello" && message.type !== "bye") return post({ type: "closed" });
        clearTimeout(silence);
        silence = setTimeout(close, TAB_SILENCE_MS);
        if (message.type === "hello") {
          const key = JSON.stringify([message.base, message.authorization]);
          hub = this.#hubs.get(key);
          if (hub === undefined) {
            hub = new Hub(message.base, message.authorization, () => this.#hubs.delete(key));
            this.#hubs.set(key, hub);
          } else hub.retry();
          leave = hub.join(post);
        } else if (message.type === "bye") close();
        else if (message.type === "retry") hub?.retry();
        else if (message.type === "stop") {
          stops.get(message.id)?.();
          stops.delete(message.id);
        } else if (message.type === "call") hub?.call(message, post);
        else if (message.type !== "alive" && leave !== undefined) {
          stops.set(
            message.id,
            hub!.stream(message, post, () => stops.delete(message.id)),
          );
        }
      },
    };
  }
}

/** The connection of tabs with the same credentials. */
class Hub {
  readonly #transport: Transport;
  readonly #carrier: Carrier;
  readonly #tabs = new Set<Post>();
  readonly #onEmpty: () => void;
  #heardAt = 0;

  constructor(base: string, authorization: string | undefined, onEmpty: () => void) {
    this.#onEmpty = onEmpty;
    this.#transport = binaryTransport(base, authorization);
    this.#carrier = new Carrier(this.#transport, authorization !== undefined, {
      state: () => this.#tell(),
      heard: () => this.#heard(),
    });
  }

  /** Adds a tab until the returned function is called; the last one to leave ends the connection. */
  join(post: Post): () => void {
    this.#tabs.add(post);
    this.#tell();
    return () => {
      this.#tabs.delete(post);
      this.#tell();
      if (this.#tabs.size > 0) return;
      this.#onEmpty();
      this.#carrier.close();
    };
  }

  retry(): void {
    this.#carrier.retry();
  }

  call({ id, service, method, input }: Extract<ToWorker, { type: "call" }>, post: Post): void {
    type Call = (input: unknown) => Promise<unknown>;
    const client = createClient(SERVICES[service], this.#transport) as unknown as Record<string, Call>;
    client[method]!(input).then(
      (message) => {
        this.#heard();
        post({ type: "result", id, message });
      },
      (error) => post({ type: "end", id, fault: faultOf(error) }),
    );
  }

  stream(message: Extract<ToWorker, { type: "stream" | "watch" }>, post: Post, onEnd: () => void): () => void {
    const { id } = message;
    const [method, input] =
      message.type === "watch" ? WATCHES[message.watch] : [methodOf(message.service, message.method), message.input];
    return this.#carrier.add({
      method,
      input,
      isWatch: message.type === "watch",
      message: (each) => post({ type: "message", id, message: each }),
      interrupted: (fault) => post({ type: "interrupted", id, fault }),
      end(fault) {
        onEnd();
        post({ type: "end", id, fault });
      },
    });
  }

  #tell(): void {
    const message: ToTab = {
      type: "connection",
      state: this.#carrier?.state ?? { status: "connecting" },
      tabs: this.#tabs.size,
    };
    for (const post of this.#tabs) post(message);
  }

  #heard(): void {
    const at = Date.now();
    if (at - this.#heardAt < HEARD_MS) return;
    this.#heardAt = at;
    for (const post of this.#tabs) post({ type: "heard", at });
  }
}

function methodOf(service: ServiceName, method: string): DescMethod {
  return (SERVICES[service].method as unknown as Readonly<Record<string, DescMethod>>)[method]!;
}
