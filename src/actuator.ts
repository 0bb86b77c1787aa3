import type { Server, Socket } from "node:net";
import { guardedGate } from "./actuator-gate.ts";
import { countErrors, metricsOf, observeEndpoints } from "./actuator-metrics.ts";
import {
  type ActuatorOptions,
  type ActuatorSessionsOptions,
  checkActuatorOptions,
  isStore,
} from "./actuator-options.ts";
import { ActuatorError } from "./common/error.ts";
import { addressList, isLoopback } from "./common/ip-address.ts";
import { requireNode } from "./common/node-version.ts";
import type { FleetEngineSource } from "./fleet/engine.ts";
import { Fleet, type FleetSelf } from "./fleet/fleet.ts";
import { type ActuatorFleetOptions, fleetOptions } from "./fleet/options.ts";
import type { Endpoints } from "./http/endpoints.ts";
import { MOUNTED_WITHOUT_ACCESS } from "./http/gate/gate.ts";
import { mcpHandler } from "./http/mcp/handler.ts";
import { MCP_PATH } from "./http/mcp/operations.ts";
import { otlpHandler } from "./http/otlp/http.ts";
import { otlpReceiver } from "./http/otlp/receiver.ts";
import { createGateway } from "./http/rest/gateway.ts";
import { createRpcHandler } from "./http/rpc/handler.ts";
import { uiHandler } from "./http/ui/handler.ts";
import type { GraphBuilder } from "./integration-graph/builder.ts";
import type { IntegrationGraph } from "./integration-graph/graph.ts";
import type { Detach } from "./loggers/adapter.ts";
import { reportLevelChanges } from "./loggers/change-log.ts";
import { Loggers } from "./loggers/loggers.ts";
import type { TtlOptions } from "./loggers/options.ts";
import { Logs } from "./logs/logs.ts";
import type { LogsOptions } from "./logs/options.ts";
import { audit } from "./operations/audit/audit.ts";
import type { Application } from "./operations/health/application.ts";
import { Health, sessionStoreCheck, storedLevelsCheck } from "./operations/health/health.ts";
import type { Metrics } from "./operations/metrics/metrics.ts";
import { requireReachable } from "./operations/spring-boot-admin/announcement.ts";
import type { Registration } from "./operations/spring-boot-admin/registration.ts";
import { fleetDial } from "./peers/fleet-dial.ts";
import { CREATED, MADE, TAKE } from "./processes/hand-over.ts";
import { isWildcard, type ListenAddress } from "./server/address.ts";
import { careful, reportError } from "./server/guard.ts";
import type { ServerAnswer, ServerRequest } from "./server/handler.ts";
import { refuseHttp2 } from "./server/http2-refusal.ts";
import type { ListenOptions } from "./server/listen-options.ts";
import { createListener, type DrainOptions, type Listener } from "./server/listener.ts";
import { openAddressLine } from "./server/open-address.ts";
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
  /**
   * Serves on a server of the application's own; see {@link listen} for one of its own. Without `access` it answers only health, because
   * behind a proxy that adds no headers every client looks like this machine.
   */
  readonly handler: ActuatorHandler;
  /** The loggers, where they are served: levels can be read and set from the application as well. */
  readonly loggers: Loggers | undefined;
  /** What the loggers write, where it is served: the application can watch it as well. */
  readonly logs: Logs | undefined;
  /** The sessions, where they are served; their ids are those that callers see. */
  readonly sessions: Sessions | undefined;
  /** The integration graph, where it is served. */
  readonly integrationGraph: IntegrationGraph | undefined;
  /** The fleet that this instance takes part in, if it does. */
  readonly fleet: Fleet | undefined;
  /** The metrics of the actuator's own calls, if they are kept. */
  readonly metrics: Metrics | undefined;
  /**
   * Serves on a port of its own, HTTP/1.1 and HTTP/2 alike, on 127.0.0.1 unless `host` says otherwise. After a failure
   * another address can be tried.
   *
   * @throws ActuatorError that says what is wrong with the address and which option changes it.
   */
  listen(options: ListenOptions): Promise<ListenAddress>;
  /**
   * Ends in good order: health turns OUT_OF_SERVICE; after `delayMs` (default `limits.drainDelayMs`, which is 0) watches
   * end with UNAVAILABLE and the port of {@link listen} takes no more connections; it closes when the answers under way are
   * complete, or `deadlineMs` (default `limits.drainDeadlineMs`) later; then the logging libraries are left as they were
   * found, but for their levels, and the file of `loggers.state` holds the latest ones. A server of the application's own goes
   * on; there, {@link handler} answers health with OUT_OF_SERVICE from then on and everything else with UNAVAILABLE (503). May
   * be called again: the earliest times count.
   */
  close(options?: Pick<DrainOptions, "delayMs" | "deadlineMs">): Promise<void>;
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

/** An actuator as `connect-actuator/auto` sees it. */
export interface TakingActuator extends Actuator {
  readonly [TAKE]: (socket: Socket, accepting: Server) => void;
  /** Where it listens. */
  readonly addresses: readonly string[];
}

/**
 * Builds the actuator of an application.
 *
 * @example
 * ```ts
 * const actuator = createActuator({ name: "shop", loggers: { adapters: [pinoLoggers(logger)] } });
 * await actuator.listen({ port: 9001 });
 * ```
 *
 * @throws ActuatorError INVALID_ARGUMENT for an option that does not exist or does not fit, FAILED_PRECONDITION for a Node.js that
 *   is too old.
 */
export function createActuator(options: ActuatorOptions = {}): Actuator {
  const actuator = actuatorOf(options);
  const globals = globalThis as Globals;
  const made = { actuator, options };
  const { close } = actuator;
  globals[MADE] = made;
  globals[CREATED]?.(actuator, options);
  return Object.assign(actuator, {
    close(drain?: Parameters<Actuator["close"]>[0]) {
      if (globals[MADE] === made) delete globals[MADE];
      return close(drain);
    },
  });
}

/** Where other copies of this package look, too. */
interface Globals {
  [CREATED]?: (actuator: Actuator, options: ActuatorOptions) => void;
  [MADE]?: { readonly actuator: Actuator; readonly options: ActuatorOptions };
}

/**
 * As {@link createActuator}, but over loggers that are managed already, if there are any.
 *
 * @throws ActuatorError as {@link createActuator}.
 */
export function actuatorOf(options: ActuatorOptions, managed?: Loggers): TakingActuator {
  requireNode();
  checkActuatorOptions(options);
  const { basePath = "/actuator", limits } = options;
  const metrics = options.metrics ? metricsOf(options.metrics === true ? {} : options.metrics, basePath) : undefined;
  const onError = countErrors(metrics, careful(options.onError ?? reportError));
  const trusted = addressList(options.trustedProxies ?? []);

  const application: Application = { name: options.name, version: options.version, startTime: Date.now() };
  const loggers = managed ?? (options.loggers && new Loggers(options.loggers, onError));
  if (loggers !== undefined) reportLevelChanges(loggers, options.loggers ?? {}, onError);
  const sessions = options.sessions && sessionsOf(options.sessions);
  const integrationGraph = options.integrationGraph && graphOf(options.integrationGraph);
  const logs = loggers && logsOf(loggers, options.logs ?? true, integrationGraph);
  const health = new Health(options.health, {
    builtIn: {
      ...(sessions && { sessions: sessionStoreCheck(storeOf(options.sessions!)) }),
      ...(options.loggers?.state !== undefined && { levels: storedLevelsCheck(loggers!) }),
    },
    onError,
  });
  const otlp = options.otlp ? otlpReceiver(options.otlp === true ? {} : options.otlp) : undefined;
  const auditLog = audit(options.audit ?? true, (error) => onError(error, "audit"));
  loggers?.onStored(auditLog.storage);
  logs?.onVolume(auditLog.volume);
  const observers = metrics === undefined ? [auditLog] : [auditLog, metrics.observe];
  const { access, allowedHosts, cors, readOnly } = options;
  const monitors = options.admin && [options.admin.url].flat();
  const guarded = guardedGate({ access, allowedHosts, cors, monitors, readOnly, trusted, observers, onError });
  const { gate } = guarded;
  const detaches: Detach[] = [];
  let fleet: Fleet | undefined;
  try {
    for (const adapter of options.loggers?.adapters ?? []) detaches.push(loggers!.attach(adapter));
    if (otlp !== undefined) detaches.push(integrationGraph!.attach(otlp));
    // Last: from here on others see this instance.
    fleet = options.fleet && fleetOf(options.fleet, { ...application, loggers, onError }, options.loggers);
  } catch (error) {
    for (const detach of detaches) detach();
    guarded.close();
    throw error;
  }

  const isScraped = typeof options.metrics !== "object" || (options.metrics.prometheus ?? true);
  const shown = isScraped ? metrics : undefined;
  const endpoints: Endpoints = {
    application,
    health,
    loggers,
    fleet,
    fleetEngine: options.fleetEngine,
    dialFleet: fleet && fleetDial(fleetOptions(options.fleet!).peers, onError),
    logs,
    sessions,
    integrationGraph,
    metrics: shown,
    otlp,
  };

  const rpc = createRpcHandler(endpoints, {
    gate,
    onError,
    basePath,
    heartbeatMs: options.heartbeatMs,
    bodyTimeoutMs: limits?.requestTimeoutMs,
    streams: options.streams,
  });
  const mcp = options.mcp === true ? {} : options.mcp || undefined;
  const gateway = createGateway(endpoints, {
    basePath,
    links: mcp && [MCP_PATH],
    gate,
    schemes: guarded.schemes,
    trustedProxies: trusted,
    temporaryLevels: options.loggers?.temporaryRestLevels,
    onError,
  });
  const serveAgents = mcp && mcpHandler({ ...mcp, application, basePath, gate, rpc, onError });
  const serveUi = (options.ui ?? true) ? uiHandler({ basePath, gate, onError }) : undefined;
  const takeSpans = otlp && otlpHandler(otlp, onError, gate);
  let listener: Listener | undefined;
  const addresses: string[] = [];
  let registration: Registration | undefined;
  let ended = false;

  if (metrics !== undefined) observeEndpoints(metrics, endpoints, rpc, () => listener, auditLog);

  const handler: ActuatorHandler = (req, res, next) => {
    if (!takeSpans?.(req, res) && !rpc.handle(req, res) && !serveUi?.(req, res) && !serveAgents?.(req, res))
      gateway(req, res, next);
  };
  const isOpen = !guarded.authenticated && access !== "loopback";
  let isMountReported = !isOpen;
  let isMounted = false;
  // Until it is known to be mounted nowhere, as where loggers were managed before there was an actuator to mount.
  let stopRefusing = managed === undefined ? refuseHttp2() : undefined;

  function refuseIfEnded(): void {
    if (ended) throw new ActuatorError("FAILED_PRECONDITION", "ACTUATOR_CLOSED", "already closed; create another one");
  }

  function listenerOf(): Listener {
    const { authenticated } = guarded;
    const { handleStream: streamHandler } = rpc;
    listener ??= createListener(handler, { authenticated, trustedProxies: trusted, limits, streamHandler, onError });
    return listener;
  }

  async function close({ delayMs, deadlineMs }: Pick<DrainOptions, "delayMs" | "deadlineMs"> = {}): Promise<void> {
    ended = true;
    health.status = "OUT_OF_SERVICE";
    // Beside the drain, which it must not hold up.
    const gone = registration?.close();
    const endStreams = () => rpc.endStreams();
    if (listener === undefined) endStreams();
    else await listener.drain({ delayMs, deadlineMs, endStreams });
    guarded.close();
    stopRefusing?.();
    await gone;
    logs?.close();
    // Before the loggers, whose levels it gives back.
    await fleet?.close();
    await loggers?.close();
    for (const detach of detaches.splice(0)) detach();
    await auditLog.close();
    await sessions?.close().catch((error) => onError(error, "sessions"));
  }

  return {
    get handler() {
      if (!isMountReported) onError(new Error(MOUNTED_WITHOUT_ACCESS), "handler");
      isMountReported = true;
      isMounted = true;
      if (!ended) stopRefusing ??= refuseHttp2();
      return handler;
    },
    loggers,
    logs,
    sessions,
    integrationGraph,
    fleet,
    metrics,
    close,
    async listen(listenOptions) {
      refuseIfEnded();
      if (options.admin !== undefined) requireReachable(options.admin, listenOptions);
      await guarded.ready();
      refuseIfEnded();
      const { authenticated } = guarded;
      if (!isMounted) stopRefusing = stopRefusing?.() as undefined;
      const address = await listenerOf().listen(listenOptions);
      addresses.push(address.url);
      if (listenOptions.path === undefined && !isWildcard(address.address)) fleet?.listensAt(address.url);
      if (authenticated && isReadableOnTheWay(listenOptions)) onError(new Error(CLEARTEXT), "listen");
      if (isOpen && access?.anonymous === undefined) console.error(openAddressLine(address, listenOptions));
      if (options.admin !== undefined) {
        const { registerWithSpringBootAdmin } = await import("./operations/spring-boot-admin/registration.ts");
        if (ended) return address;
        registration = registerWithSpringBootAdmin(options.admin, application, { address, basePath }, onError);
      }
      return address;
    },
    drainOnSignals: (signals = ["SIGTERM", "SIGINT"]) => endOnSignals(signals, close),
    addresses,
    [TAKE](socket, accepting) {
      if (ended) socket.destroy();
      else listenerOf().take(socket, accepting);
    },
  };
}

const CLEARTEXT =
  "other machines can reach the port, and tokens are sent unencrypted; set `tls`, unless a service mesh or a tunnel encrypts";

function isReadableOnTheWay({ host = "127.0.0.1", path, tls }: ListenOptions): boolean {
  return path === undefined && tls === undefined && !isLoopback(host);
}

function logsOf(
  loggers: Loggers,
  option: boolean | LogsOptions,
  graph: IntegrationGraph | undefined,
): Logs | undefined {
  if (option === false) return undefined;
  return new Logs(loggers, option === true ? {} : option, { currentNode: () => graph?.instruments.current });
}

function fleetOf(
  fleet: FleetEngineSource | ActuatorFleetOptions,
  self: Omit<FleetSelf, "ttl">,
  ttl: TtlOptions = {},
): Fleet {
  return new Fleet(fleetOptions(fleet), { ...self, ttl });
}

function sessionsOf(sessions: SessionStore | ActuatorSessionsOptions): Sessions {
  return isStore(sessions) ? new Sessions(sessions) : new Sessions(sessions.store, sessions);
}

function storeOf(sessions: SessionStore | ActuatorSessionsOptions): SessionStore {
  return isStore(sessions) ? sessions : sessions.store;
}

function graphOf(graph: GraphBuilder | IntegrationGraph): IntegrationGraph {
  return "graph" in graph ? graph.graph : graph;
}
