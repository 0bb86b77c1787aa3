import type { Endpoints } from "../endpoints.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { callHandler, callRouter } from "./call-router.ts";
import { OpenStreams } from "./open-streams.ts";
import { requestGate } from "./request-gate.ts";
import { registerServices } from "./services.ts";
import type { StreamOptions } from "./stream-options.ts";

/** Options of the RPC interface. */
export interface RpcOptions {
  /** Receives every unexpected error; callers see only "internal error". */
  readonly onError: (error: unknown, context: string) => void;
  /** The maximum size of a request message in bytes, decompressed. Default 65,536: requests have a name and little else. */
  readonly readMaxBytes?: number | undefined;
  /**
   * The maximum size of a page of a list in bytes of protobuf. Default 4 MiB, the default limit of gRPC clients. A response message is
   * never larger than eight times this, which is about the size of the same message as JSON.
   */
  readonly writeMaxBytes?: number | undefined;
  /** Limits of streaming calls. */
  readonly streams?: StreamOptions | undefined;
  /** Checks every request before its body is read. */
  readonly gate: Gate;
  /** The path below which REST is served. Calls are answered below its `/rpc` as well as at the root. Default `/actuator`. */
  readonly basePath?: string | undefined;
  /** How long a request may take to arrive at a mounted handler, in milliseconds; 0: no limit. Default 30,000. */
  readonly bodyTimeoutMs?: number | undefined;
  /** The interval of heartbeats in a stream without news, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
}

/** The RPC interface: gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2. */
export interface RpcHandler {
  /** Answers a request to a path of RPC; returns false for any other, without an effect. Never throws. */
  handle(req: GateRequest, res: GateResponse): boolean;
  /** Ends every open stream with UNAVAILABLE and refuses new ones, for draining. */
  endStreams(): void;
  /** The number of open streams by method: `actuator.v3.LoggersService/WatchLoggers`. */
  readonly openStreams: ReadonlyMap<string, number>;
  /** Full names of the services that are served. */
  readonly services: readonly string[];
}

/** The prefixes of paths: the package of this project, and the standard services of gRPC. */
const PREFIXES = ["/actuator.v3.", "/grpc."];
/** The prefix of OpenTelemetry's service, if it is served. */
const OTLP_PREFIX = "/opentelemetry.proto.collector.trace.v1.";
const JSON_FACTOR = 8;

/** Creates the RPC interface of the endpoints. A missing domain answers UNIMPLEMENTED and is not listed. */
export function createRpcHandler(endpoints: Endpoints, options: RpcOptions): RpcHandler {
  const { gate, onError, readMaxBytes = 64 * 1024, writeMaxBytes = 4 * 1024 * 1024, heartbeatMs = 15_000 } = options;
  const { bodyTimeoutMs = 30_000 } = options;
  const { basePath = "/actuator" } = options;
  const streams = new OpenStreams(options.streams);
  const admit = requestGate(gate, onError);
  const router = callRouter({
    gate,
    requestGate: admit,
    streams,
    onError,
    bodyTimeoutMs,
    readMaxBytes,
    writeMaxBytes: JSON_FACTOR * writeMaxBytes,
  });
  const services = registerServices(router, endpoints, { maxBytes: writeMaxBytes, heartbeatMs }, admit);
  const streaming = router.handlers.filter(({ method }) => method.methodKind !== "unary");
  const answer = callHandler(router, { gate, onError, bodyTimeoutMs });
  const prefixes = endpoints.otlp === undefined ? PREFIXES : [...PREFIXES, OTLP_PREFIX];

  return {
    services,
    get openStreams() {
      const methods = streaming.map(({ requestPath }) => requestPath.slice(1));
      return new Map(methods.map((method) => [method, streams.sizeOf(method)]));
    },
    endStreams: () => streams.end(),
    handle(req, res) {
      const url = rpcUrl(req, prefixes, `${basePath}/rpc`);
      if (url === undefined) return false;
      answer(req, res, url);
      return true;
    },
  };
}

/**
 * The URL of a request of RPC as at the root; undefined for any other request. Frameworks keep the URL with the mount path in
 * `originalUrl`, and may mount the handler at the base path.
 */
function rpcUrl(req: GateRequest, prefixes: readonly string[], below: string): string | undefined {
  const { originalUrl = "", url = "" } = req as { readonly originalUrl?: string; readonly url?: string };
  const folders = [below, "/rpc", ""];
  const urls = [originalUrl, url].flatMap((given) =>
    folders.flatMap((folder) => (given.startsWith(`${folder}/`) ? given.slice(folder.length) : [])),
  );
  return urls.find((candidate) => prefixes.some((prefix) => candidate.startsWith(prefix)));
}
