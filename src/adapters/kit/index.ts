// Everything that an adapter of another library is made of: the ports of the three domains, what messaging adapters share, and the
// replacement of methods. See docs/writing-an-adapter.md.

export { ActuatorError, type ErrorCode } from "../../common/error.ts";
export type { Detach, GraphAdapter, GraphHost, Outcome } from "../../integration-graph/adapter.ts";
export { type NodeDeclaration, shortened } from "../../integration-graph/declaration.ts";
export type { LinkType } from "../../integration-graph/link-type.ts";
export type { GraphLink, GraphNode } from "../../integration-graph/node.ts";
export { channelKey, endpointKey } from "../../integration-graph/node-id.ts";
export type { PatternType } from "../../integration-graph/pattern.ts";
export type { Properties } from "../../integration-graph/properties.ts";
export type { GraphSource, LinkDeclaration, Topology } from "../../integration-graph/source.ts";
export type {
  CallGate,
  CallTally,
  LoggerAdapter,
  LoggerHandle,
  LoggerHost,
  RecordContent,
  RecordError,
  RecordSink,
  WrittenRecord,
} from "../../loggers/adapter.ts";
export { LEVELS, type Level } from "../../loggers/level.ts";
export type { Principal } from "../../sessions/principal.ts";
export type { Session } from "../../sessions/session.ts";
export type {
  SessionPage,
  SessionQuery,
  SessionSearch,
  SessionStore,
  SessionStoreLimits,
} from "../../sessions/store.ts";
export { field, hasMethods } from "./interception/field.ts";
export { whenSettled } from "./interception/plain-promise.ts";
export {
  type Live,
  type Making,
  type Method,
  placeMethod,
  replaceMethod,
  replaceMethods,
  undoing,
} from "./interception/replaced-method.ts";
export { requireVersion, type SupportedLibrary } from "./library-version.ts";
export { type GivenContent, keptRecord, type RecordHead } from "./loggers/kept-record.ts";
export { type RecordSinks, recordSinks } from "./loggers/record-sinks.ts";
export { isError, type Snapshot, snapshotOf } from "./loggers/snapshot.ts";
export { Delivery, deliver, outcome, type Receiver } from "./messaging/delivery.ts";
export {
  Destination,
  type DestinationOptions,
  DestinationRegistry,
  PerBroker,
  plainProperties,
} from "./messaging/destinations.ts";
export {
  functionName,
  Handler,
  type HandlerDescription,
  HandlerRegistry,
  type Input,
  type InputChannel,
} from "./messaging/handlers.ts";
export {
  type Unwatch,
  WatchedObjects,
  type Watcher,
  type WatchingAdapter,
  type WatchingOptions,
  WatchSet,
  watchingAdapter,
} from "./messaging/watching-adapter.ts";
