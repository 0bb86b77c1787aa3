import {
  type ActuatorOptions,
  type ActuatorSessionsOptions,
  checkActuatorOptions,
  isStore,
} from "./actuator-options.ts";
import type { Application } from "./application/application.ts";
import { Health } from "./application/health.ts";
import type { Endpoints } from "./endpoints.ts";
import { ActuatorError } from "./error.ts";
import type { GraphBuilder } from "./integration-graph/builder.ts";
import type { IntegrationGraph } from "./integration-graph/graph.ts";
import type { Detach } from "./loggers/adapter.ts";
import { reportLevelChanges } from "./loggers/change-log.ts";
import { Loggers } from "./loggers/loggers.ts";
import { otlpHandler } from "./otlp/http.ts";
import { otlpReceiver } from "./otlp/receiver.ts";
import { createGateway } from "./rest/gateway.ts";
import { createRpcHandler } from "./rpc/handler.ts";
import type { ListenAddress, ListenOptions } from "./server/address.ts";
import { addressList } from "./server/address-list.ts";
import type { ServerErrorHandler } from "./server/guard.ts";
import type { ServerAnswer, ServerRequest } from "./server/handler.ts";
import { createListener, type DrainOptions, type Listener } from "./server/listener.ts";
import { endOnSignals } from "./server/signals.ts";
import { Sessions } from "./sessions/sessions.ts";
import type { SessionStore } from "./sessions/store.ts";

/**
 * Answers requests of node:http, node:http2 and of frameworks that hand these on. A path that is not the actuator's is left
 * to `next`, or answered 404 where there is none.
 */
export type ActuatorHandler = (req: ServerRequest, res: ServerAnswer, next?: () => void) => void;

/** The loggers, sessions and integration graph of this process, served over gRPC, gRPC-Web, Connect and REST. */
export interface Actuator {
  /** Serves on a server of the application's own; see {@link listen} for one of its own. */
  readonly handler: ActuatorHandler;
  /** The loggers, where they are served: levels can be read and set from the application as well. */
  readonly loggers: Loggers | undefined;
  /** The sessions, where they are served; their ids are those that callers see. */
  readonly sessions: Sessions | undefined;
  /** The integration graph, where it is served. */
  readonly integrationGraph: IntegrationGraph | undefined;
  /**
   * Serves on a port of its own, HTTP/1.1 and HTTP/2 alike, on 127.0.0.1 unless `host` says otherwise. After a failure
   * another address can be tried.
   *
   * @throws ActuatorError that says what is wrong with the address and which option changes it.
   */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /**
   * Ends in good order: health turns OUT_OF_SERVICE, watches end with UNAVAILABLE, the port of {@link listen} closes when
   * the answers under way are complete, or after `deadlineMs` (default `limits.drainDeadlineMs`); then the logging
   * libraries are left as they were found, but for their levels, and the file of `loggers.state` holds the latest ones. A
   * server of the application's own goes on, and so does {@link handler}. May be called again: the earliest deadline counts.
   */
  close(options?: Pick<DrainOptions, "deadlineMs">): Promise<void>;
  /**
   * Calls {@link close} on the first of the signals, after which a process with nothing left to do exits by itself. Where
   * the application still runs then and listens for the signal nowhere, the signal ends it as it would have without this;
   * a second signal ends it at once.
   *
   * @param signals default SIGTERM and SIGINT
   * @returns a function that stops listening for signals
   */
  drainOnSignals(signals?: readonly NodeJS.Signals[]): () => void;
}

/**
 * Builds the actuator of an application.
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit.
 */
export function createActuator(options: ActuatorOptions = {}): Actuator {
  checkActuatorOptions(options);
  const { basePath = "/actuator", trustedProxies = [], limits } = options;
  const onError = careful(options.onError ?? reportError);

  const application: Application = { name: options.name, version: options.version, startTime: Date.now() };
  const health = new Health();
  const loggers = options.loggers && new Loggers(options.loggers, onError);
  if (loggers !== undefined) reportLevelChanges(loggers, options.loggers!, onError);
  const sessions = options.sessions && sessionsOf(options.sessions);
  const integrationGraph = options.integrationGraph && graphOf(options.integrationGraph);
  const otlp = options.otlp ? otlpReceiver(options.otlp === true ? {} : options.otlp) : undefined;
  const endpoints: Endpoints = { application, health, loggers, sessions, integrationGraph, otlp };

  const rpc = createRpcHandler(endpoints, { onError, heartbeatMs: options.heartbeatMs });
  const gateway = createGateway(endpoints, {
    basePath,
    trustedProxies: addressList(trustedProxies),
    temporaryLevels: options.loggers?.temporaryRestLevels,
    onError,
  });
  const takeSpans = otlp && otlpHandler(otlp, onError);
  const detaches: Detach[] = [];
  try {
    for (const adapter of options.loggers?.adapters ?? []) detaches.push(loggers!.attach(adapter));
    if (otlp !== undefined) detaches.push(integrationGraph!.attach(otlp));
  } catch (error) {
    for (const detach of detaches) detach();
    throw error;
  }
  let listener: Listener | undefined;
  let ended = false;

  const handler: ActuatorHandler = (req, res, next) => {
    if (!takeSpans?.(req, res) && !rpc.handle(req, res)) gateway(req, res, next);
  };

  async function close({ deadlineMs }: Pick<DrainOptions, "deadlineMs"> = {}): Promise<void> {
    ended = true;
    health.status = "OUT_OF_SERVICE";
    const endStreams = () => rpc.endStreams();
    if (listener === undefined) endStreams();
    else await listener.drain({ deadlineMs, endStreams });
    await loggers?.close();
    for (const detach of detaches.splice(0)) detach();
    await sessions?.close().catch((error) => onError(error, "sessions"));
  }

  return {
    handler,
    loggers,
    sessions,
    integrationGraph,
    close,
    async listen(listenOptions) {
      if (ended) throw new ActuatorError("FAILED_PRECONDITION", "ACTUATOR_CLOSED", "closed already; create another");
      listener ??= createListener(handler, { limits, onError });
      return listener.listen(listenOptions);
    },
    drainOnSignals: (signals = ["SIGTERM", "SIGINT"]) => endOnSignals(signals, close),
  };
}

function sessionsOf(sessions: SessionStore | ActuatorSessionsOptions): Sessions {
  return isStore(sessions) ? new Sessions(sessions) : new Sessions(sessions.store, sessions);
}

function graphOf(graph: GraphBuilder | IntegrationGraph): IntegrationGraph {
  return "graph" in graph ? graph.graph : graph;
}

/** What hears of errors must not make new ones: from inside a promise they would end the process. */
function careful(onError: ServerErrorHandler): ServerErrorHandler {
  return (error, context) => {
    try {
      onError(error, context);
    } catch (failure) {
      reportError(error, context);
      reportError(failure, "onError");
    }
  };
}

/** One line, whatever the error: a stack holds paths of the machine, and a line break could forge a line of the log. */
function reportError(error: unknown, context: string): void {
  const line = `connect-actuator: ${context}: ${error}`;
  console.error(line.replace(/[\x00-\x1f\x7f\u2028\u2029]+/g, " ").slice(0, 1_000));
}
