import { type AccessOption, accessOption } from "./access/options.ts";
import { hostList } from "./common/allowed-hosts.ts";
import { networkOf } from "./common/ip-address.ts";
import {
  type Checks,
  callable,
  count,
  flag,
  flagOr,
  having,
  listOf,
  objectOf,
  oneOf,
  option,
  optionFaults,
  positiveMs,
  refuseFaults,
  shaped,
  text,
  timerMs,
} from "./common/options.ts";
import type { FleetEngineSource } from "./fleet/engine.ts";
import { ACTUATOR_FLEET, type ActuatorFleetOptions, isEngine } from "./fleet/options.ts";
import type { FleetRegisters } from "./fleet/register.ts";
import { CORS, type CorsOptions } from "./http/gate/cors-options.ts";
import { MCP, type McpOptions } from "./http/mcp/options.ts";
import { OTLP, type OtlpOptions } from "./http/otlp/options.ts";
import { STREAMS, type StreamOptions } from "./http/rpc/calls/stream-options.ts";
import type { GraphBuilder } from "./integration-graph/builder.ts";
import type { IntegrationGraph } from "./integration-graph/graph.ts";
import type { LoggerAdapter } from "./loggers/adapter.ts";
import type { LevelChangeReport } from "./loggers/change-log.ts";
import type { LoggersOptions } from "./loggers/options.ts";
import { LOGS, type LogsOptions } from "./logs/options.ts";
import { type AuditOption, auditOption } from "./operations/audit/audit.ts";
import { HEALTH, type HealthOptions } from "./operations/health/health-options.ts";
import { METRICS, type MetricsOptions } from "./operations/metrics/options.ts";
import { adminNameFaults, adminOptions, type SpringBootAdminOptions } from "./operations/spring-boot-admin/options.ts";
import type { ServerErrorHandler } from "./server/guard.ts";
import { LIMITS, type Limits } from "./server/limits.ts";
import type { SessionsOptions } from "./sessions/sessions.ts";
import type { SessionStore } from "./sessions/store.ts";

/** The loggers that an application shows. */
export interface ActuatorLoggersOptions extends LoggersOptions, LevelChangeReport {
  /** The logging libraries in use. */
  readonly adapters?: readonly LoggerAdapter[] | undefined;
  /**
   * Whether DEBUG and TRACE set over REST last only for `defaultTtlMs`. Default false: they stay, as in Spring Boot.
   */
  readonly temporaryRestLevels?: boolean | undefined;
}

/** The sessions that an application shows. */
export interface ActuatorSessionsOptions extends SessionsOptions {
  /** The session store. */
  readonly store: SessionStore;
}

/** What an application shows of itself, and how. Every part may be left out; what is left out is not served. */
export interface ActuatorOptions {
  /** The application's name, shown by `info`. */
  readonly name?: string | undefined;
  /** The application's version, shown by `info`. */
  readonly version?: string | undefined;
  /** The logging libraries in use, and groups of loggers. */
  readonly loggers?: ActuatorLoggersOptions | undefined;
  /**
   * Whether callers with the permission `logs:read`, which is granted only by its name, may watch what loggers write; and how it is
   * redacted. Default: true.
   */
  readonly logs?: boolean | LogsOptions | undefined;
  /**
   * The session store, such as `expressSessions(store)`, `memorySessions()` or one of your own; or an object with the store and
   * options.
   */
  readonly sessions?: SessionStore | ActuatorSessionsOptions | undefined;
  /** The result of `integrationGraph({ app })`. */
  readonly integrationGraph?: GraphBuilder | IntegrationGraph | undefined;
  /**
   * The engine of the fleet that this application takes part in, such as `redisFleet("redis://127.0.0.1")`, or an object with the engine
   * and options. Levels can then be set on all of its instances at once. Default: none.
   */
  readonly fleet?: FleetEngineSource | ActuatorFleetOptions | undefined;
  /**
   * Fleets to keep for their instances, which dial this actuator (`serveFleet`): what `memoryFleet()` returns. Callers need the permission
   * `fleet:join`. Default: none.
   */
  readonly fleetEngine?: FleetRegisters | undefined;
  /**
   * Whether the integration graph accepts spans of other services: OTLP over gRPC and over HTTP (`POST /v1/traces`), on the
   * same port. Callers with `graph:write` can then add to the graph. Default: false.
   */
  readonly otlp?: boolean | OtlpOptions | undefined;
  /**
   * Whether browsers get the page of the actuator, at `/ui` below the base path. It has no data of its own: it calls the same interface as
   * every client, with the operator's token. Default: true.
   */
  readonly ui?: boolean | undefined;
  /**
   * Whether AI agents are served over MCP, at `/mcp` below the base path, with the permissions of their token. Needs the package
   * `@modelcontextprotocol/server`, which is loaded with the first request. Default: false.
   */
  readonly mcp?: boolean | McpOptions | undefined;
  /**
   * How callers authenticate: tokens, JWT, client certificates or a function of your own. `"loopback"`: they need not, and every
   * program and proxy on this machine is trusted. Default: the port of `listen` accepts direct requests from this machine; a mounted
   * handler answers only health.
   */
  readonly access?: AccessOption | undefined;
  /** Whether all changes are refused: REST answers 405, RPC PERMISSION_DENIED. Default: false. */
  readonly readOnly?: boolean | undefined;
  /**
   * Host names that requests may name, such as `actuator.example.com` or `*.example.com`. Prevents DNS rebinding: a web page
   * that points its own name at this machine. Default: the names of this machine; with `access`, any name.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Where the audit log goes, which records every write, every look at sessions and every refused call: true for lines of JSON
   * on standard error, a function, `{ file: "audit.log" }`, or false for no audit log. Default: true.
   */
  readonly audit?: AuditOption | undefined;
  /** Spring Boot Admin servers that this application registers with once it listens. Default: none. */
  readonly admin?: SpringBootAdminOptions | undefined;
  /** Pages of other origins that may call from a browser. Default: none. */
  readonly cors?: CorsOptions | undefined;
  /** Metrics of the actuator's own calls, which `GET /prometheus` shows. Default: false. */
  readonly metrics?: boolean | MetricsOptions | undefined;
  /** What the health depends on, besides the process itself. Default: nothing. */
  readonly health?: HealthOptions | undefined;
  /** The path of the REST interface. Default `/actuator`. */
  readonly basePath?: string | undefined;
  /**
   * IP addresses and networks of proxies whose headers are trusted, such as `["127.0.0.1", "10.0.0.0/8"]`: for the client's
   * address (`X-Forwarded-For`, `Forwarded`), and for the address that the client called (`X-Forwarded-Host`, `-Proto`,
   * `-Prefix`). Default: none.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The longest silence on the stream of a watch or a held level, in milliseconds, before the server sends a heartbeat. Default
   * 15,000.
   */
  readonly heartbeatMs?: number | undefined;
  /** The most open streams: watches, held levels, measurements. */
  readonly streams?: StreamOptions | undefined;
  /** Limits of the port of {@link Actuator.listen}; each one overrides that of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Called for every error that callers only see as an internal error. Default: writes one line to the console. */
  readonly onError?: ServerErrorHandler | undefined;
}

/**
 * Checks what the application passed.
 *
 * @throws ActuatorError INVALID_ARGUMENT with every option that does not exist or does not fit, a line each.
 */
export function checkActuatorOptions(options: ActuatorOptions): void {
  const where = "createActuator";
  const faults = optionFaults(where, options, OPTIONS);
  const { sessions, otlp, admin, fleet } = (options ?? {}) as ActuatorOptions;
  if (typeof sessions === "object" && sessions !== null && !isStore(sessions)) {
    faults.push(...optionFaults(`${where}.sessions`, sessions, SESSIONS));
  }
  if (typeof fleet === "object" && fleet !== null && !isEngine(fleet)) {
    faults.push(...optionFaults(`${where}.fleet`, fleet, ACTUATOR_FLEET));
  }
  if (typeof admin === "object" && admin !== null) {
    faults.push(...adminNameFaults(`${where}.admin`, admin, options.name));
  }
  if (otlp && options.integrationGraph === undefined) {
    const field = `${where}.otlp`;
    faults.push({ field, reason: "INVALID_OPTION", message: `${field} needs an integrationGraph to draw into` });
  }
  refuseFaults(faults);
}

/** Tells a store from a store with options. */
export function isStore(sessions: SessionStore | ActuatorSessionsOptions): sessions is SessionStore {
  return "findById" in sessions;
}

const MIN_KEY_LENGTH = 16;
const store = having(["findById"], "a session store, such as expressSessions(store) or memorySessions()");

/** The checks of {@link ActuatorLoggersOptions}. */
export const LOGGERS: Checks<ActuatorLoggersOptions> = {
  adapters: listOf(having(["attach"], "an adapter of a logging library, such as pinoLoggers(logger)")),
  groups: shaped({ kind: "lists" }, (value) => {
    const lists = typeof value === "object" && !Array.isArray(value) ? Object.values(value ?? {}) : [undefined];
    return lists.every(Array.isArray) ? undefined : "must be an object of lists of logger names";
  }),
  maxCreated: option(count, { default: 10_000 }),
  maxLoggers: option(count, { default: 250_000 }),
  defaultTtlMs: option(positiveMs, { default: 600_000 }),
  maxTtlMs: option(positiveMs, { default: 86_400_000 }),
  allowForever: option(flag, { default: false }),
  onLevelChange: callable,
  logLevelChanges: option(flag, { default: true }),
  temporaryRestLevels: option(flag, { default: false }),
  maxHistory: option(count, { default: 10_000 }),
  state: option(text, { path: "written" }),
  levelsFile: option(text, { path: "read" }),
  instance: text,
};

/** The checks of the names of attributes that are shown. */
export const ATTRIBUTES: Checks<NonNullable<ActuatorSessionsOptions["attributes"]>> = {
  allow: listOf(text),
  deny: listOf(text),
};

/** The checks of {@link ActuatorSessionsOptions}. */
export const SESSIONS: Checks<ActuatorSessionsOptions> = {
  store,
  ids: option(oneOf("hashed", "raw"), { default: "hashed" }),
  idKey: shaped(
    { kind: "text" },
    (value) => {
      const fits = (typeof value === "string" || value instanceof Uint8Array) && value.length >= MIN_KEY_LENGTH;
      return fits ? undefined : `must be a random string of at least ${MIN_KEY_LENGTH} characters, or as many bytes`;
    },
    { secret: true },
  ),
  attributes: objectOf(ATTRIBUTES),
  maxShown: option(count, { default: 10_000 }),
};

/** The checks of {@link ActuatorOptions}. */
export const OPTIONS: Checks<ActuatorOptions> = {
  name: text,
  version: text,
  loggers: objectOf(LOGGERS, undefined, "{ adapters: [pinoLoggers(logger)] }"),
  logs: flagOr(LOGS, true),
  sessions: (value) =>
    typeof value === "object" && (value as ActuatorSessionsOptions)?.store ? undefined : store(value),
  integrationGraph: (value) =>
    having(["snapshot", "rebuild"], "what integrationGraph({ app }) gave")((value as GraphBuilder)?.graph ?? value),
  fleet: (value) =>
    typeof value === "object" && (value as ActuatorFleetOptions)?.engine ? undefined : ACTUATOR_FLEET.engine(value),
  fleetEngine: having(["register"], "what memoryFleet() returns"),
  otlp: flagOr(OTLP),
  ui: option(flag, { default: true }),
  mcp: flagOr(MCP),
  access: accessOption,
  readOnly: option(flag, { default: false }),
  allowedHosts: hostList("actuator.example.com"),
  audit: auditOption,
  admin: adminOptions,
  cors: objectOf(CORS),
  metrics: flagOr(METRICS),
  health: objectOf(HEALTH),
  basePath: shaped(
    { kind: "text" },
    (value) =>
      typeof value === "string" && /^(?:\/[\w.~-]+)+$/.test(value) ? undefined : 'must be a path such as "/actuator"',
    { default: "/actuator" },
  ),
  trustedProxies: listOf((entry) =>
    networkOf(entry) === undefined ? 'must be an IP address or a network such as "10.0.0.0/8"' : undefined,
  ),
  heartbeatMs: option(timerMs, { default: 15_000 }),
  streams: objectOf(STREAMS),
  limits: option(objectOf(LIMITS), { always: true }),
  onError: callable,
};
