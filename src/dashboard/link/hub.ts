import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ApplicationService } from "../../gen/actuator/v3/application_pb.ts";
import { IntegrationGraphService } from "../../gen/actuator/v3/integration_graph_pb.ts";
import { LoggersService } from "../../gen/actuator/v3/loggers_pb.ts";
import { LogsService } from "../../gen/actuator/v3/logs_pb.ts";
import { SessionsService } from "../../gen/actuator/v3/sessions_pb.ts";
import type { Fault, SharedWatch, ToTab, ToWorker } from "./messages.ts";
import type { ServiceName, Services } from "./services.ts";

const SERVICES: Services = {
  application: ApplicationService,
  loggers: LoggersService,
  logs: LogsService,
  sessions: SessionsService,
  graph: IntegrationGraphService,
};

const WATCHES: Readonly<Record<SharedWatch, readonly [ServiceName, string, object]>> = {
  activity: ["application", "watchActivity", {}],
  loggers: ["loggers", "watchLoggers", { compact: true }],
  graph: ["graph", "watchIntegrationGraph", {}],
};

/** One tab, as the worker sees it. */
export interface TabPort {
  receive(message: ToWorker): void;
  close(): void;
}

/** The connections of the worker: one for each set of credentials. */
export class Hubs {
  tab(post: (message: ToTab) => void): TabPort {
    let hub: Hub | undefined;
    const stops = new Map<number, AbortController>();
    const close = () => {
      for (const stop of stops.values()) stop.abort();
      stops.clear();
    };
    return {
      close,
      receive(message) {
        if (message.type === "hello") {
          hub = new Hub(message.base, message.authorization);
          post({ type: "connection", state: { status: "live", since: Date.now() }, tabs: 1 });
        } else if (message.type === "bye") close();
        else if (message.type === "stop") {
          stops.get(message.id)?.abort();
          stops.delete(message.id);
        } else if (message.type === "call" || message.type === "stream" || message.type === "watch") {
          const stop = new AbortController();
          stops.set(message.id, stop);
          void hub!.run(message, stop.signal, post).finally(() => stops.delete(message.id));
        }
      },
    };
  }
}

type Requests = Extract<ToWorker, { type: "call" | "stream" | "watch" }>;

class Hub {
  readonly #transport: Transport;

  constructor(base: string, authorization: string | undefined) {
    this.#transport = createConnectTransport({
      baseUrl: base,
      useBinaryFormat: true,
      interceptors: [
        (next) => (request) => {
          if (authorization !== undefined) request.header.set("Authorization", authorization);
          return next(request);
        },
      ],
    });
  }

  async run(message: Requests, signal: AbortSignal, post: (message: ToTab) => void): Promise<void> {
    const { id } = message;
    const [service, method, input] =
      message.type === "watch" ? WATCHES[message.watch] : [message.service, message.method, message.input];
    const client = createClient(SERVICES[service], this.#transport) as Client<never> as Record<string, Function>;
    try {
      if (message.type === "call") {
        const answer = await client[method]!(input, { signal });
        post({ type: "result", id, message: answer });
        post({ type: "heard", at: Date.now() });
        return;
      }
      for await (const each of client[method]!(input, { signal })) {
        post({ type: "message", id, message: each });
        post({ type: "heard", at: Date.now() });
      }
      post({ type: "end", id, fault: undefined });
    } catch (error) {
      if (!signal.aborted) post({ type: "end", id, fault: faultOf(error) });
    }
  }
}

function faultOf(error: unknown): Fault {
  const { code, rawMessage } = ConnectError.from(error);
  const name = Code[code].replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
  return { code: name, reason: "", message: rawMessage, metadata: {} };
}
