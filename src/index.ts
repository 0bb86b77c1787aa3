export type { AuthRequest, ClientCertificate } from "./access/auth-request.ts";
export type {
  AccessLimits,
  AccessOptions,
  Authorize,
  CallerDescription,
  CertificateRule,
  Grant,
  JwtClaims,
  JwtOptions,
} from "./access/options.ts";
export type { PermissionPattern } from "./access/permission.ts";
export { PERMISSIONS, type Permission } from "./access/permission.ts";
export { type Actuator, type ActuatorHandler, createActuator } from "./actuator.ts";
export type { ActuatorLoggersOptions, ActuatorOptions, ActuatorSessionsOptions } from "./actuator-options.ts";
export { type CustomLoggerOptions, customLogger } from "./adapters/loggers/custom/index.ts";
export { ActuatorError, type ErrorCode, type Fault } from "./common/error.ts";
export { type Configuration, type ConfigurationSources, configuration } from "./configuration/configuration.ts";
export type { EffectiveSetting } from "./configuration/effective.ts";
export type { CorsOptions } from "./http/gate/cors-options.ts";
export type { OtlpOptions } from "./http/otlp/options.ts";
export {
  type HookedRequest,
  type HookedResponse,
  type RequestLevelHook,
  type RequestLevelHookOptions,
  requestLevel,
} from "./http/request-level/hook.ts";
export { type LevelToken, signLevelToken } from "./http/request-level/token.ts";
export type { StreamOptions } from "./http/rpc/stream-options.ts";
export type { GraphAdapter, GraphHost, Outcome } from "./integration-graph/adapter.ts";
export type { BrokerTable } from "./integration-graph/brokers.ts";
export { type GraphBuilder, integrationGraph } from "./integration-graph/builder.ts";
export type {
  Channel,
  Component,
  DiscardingEndpoint,
  Endpoint,
  Filter,
  InboundChannelAdapter,
  PollableChannel,
} from "./integration-graph/component.ts";
export type { NodeDeclaration } from "./integration-graph/declaration.ts";
export { toAsyncApi } from "./integration-graph/export/asyncapi.ts";
export { toDot } from "./integration-graph/export/dot.ts";
export { toMermaid } from "./integration-graph/export/mermaid.ts";
export { toSvg } from "./integration-graph/export/svg.ts";
export { toText } from "./integration-graph/export/text.ts";
export type { IntegrationGraph, IntegrationGraphOptions } from "./integration-graph/graph.ts";
export type { LinkType } from "./integration-graph/link-type.ts";
export { type GraphPart, mergeGraphs } from "./integration-graph/merge.ts";
export { channelKey, endpointKey } from "./integration-graph/node-id.ts";
export type {
  ChainOptions,
  ChannelReference,
  ComponentOptions,
  DiscardingOptions,
  EndpointOptions,
  RouterOptions,
  SinkOptions,
  SourceOptions,
} from "./integration-graph/options.ts";
export type { PatternCategory, PatternType } from "./integration-graph/pattern.ts";
export type { ContentDescriptor, GraphSnapshot, LinkSnapshot, NodeSnapshot } from "./integration-graph/snapshot.ts";
export type { GraphSource, LinkDeclaration, Topology } from "./integration-graph/source.ts";
export { DEFAULT_TEMPORARY_NAMES, type TemporaryName } from "./integration-graph/temporary-name.ts";
export type { CallGate, CallTally, Detach, LoggerAdapter, LoggerHandle, LoggerHost } from "./loggers/adapter.ts";
export type { ChangeRequest, HoldRequest, SetRequest } from "./loggers/change-request.ts";
export type { HistoryQuery, LevelChange, LevelChangeKind } from "./loggers/history.ts";
export type { HoldOutcome, Lease, LeaseEnd } from "./loggers/lease.ts";
export { LEVELS, type Level } from "./loggers/level.ts";
export type { Loggers } from "./loggers/loggers.ts";
export type { CallReport, LoggerCalls, Measurement, MeasureRequest } from "./loggers/measurement.ts";
export type { LoggersOptions, TtlOptions } from "./loggers/options.ts";
export type { RequestLevelOptions } from "./loggers/request-level.ts";
export type { Override } from "./loggers/setting.ts";

export type { LevelOutcome, Logger, LoggerGroup, LoggersOverview } from "./loggers/view.ts";
export type { AuditFileOptions, AuditOption } from "./operations/audit/audit.ts";
export type { AuditRecord } from "./operations/audit/audit-record.ts";
export type { HealthCheck, HealthOptions } from "./operations/health/health-options.ts";
export type { ComponentHealth, HealthStatus } from "./operations/health/health-status.ts";
export type { Metrics } from "./operations/metrics/metrics.ts";
export type { MetricsOptions } from "./operations/metrics/options.ts";
export type {
  AdminTlsOptions,
  CallCredentials,
  SpringBootAdminOptions,
} from "./operations/spring-boot-admin/options.ts";
export type { ListenAddress } from "./server/address.ts";
export { DEFAULT_LIMITS, type Limits } from "./server/limits.ts";
export type { ListenOptions } from "./server/listen-options.ts";
export type { PemSource, TlsOptions } from "./server/tls-options.ts";
export { cookieOnlySessions } from "./sessions/cookie-only.ts";
export {
  type MemorySessionStore,
  type MemorySessionsOptions,
  memorySessions,
  type SessionDetails,
} from "./sessions/memory-store.ts";
export type { Principal, PrincipalPaths, PrincipalResolver, SessionRecord } from "./sessions/principal.ts";
export type { Session } from "./sessions/session.ts";
export type {
  AttributeNamesOptions,
  SessionList,
  SessionListQuery,
  Sessions,
  SessionsOptions,
} from "./sessions/sessions.ts";
export type {
  SessionPage,
  SessionQuery,
  SessionSearch,
  SessionStore,
  SessionStoreLimits,
} from "./sessions/store.ts";
export type { UserDeletion } from "./sessions/user-deletion.ts";
