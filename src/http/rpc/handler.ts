import type { Endpoints } from "../endpoints.ts";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { callHandler, callRouter } from "./call-router.ts";
import { OpenStreams } from "./open-streams.ts";
import { requestGate } from "./request-gate.ts";
import { registerServices } from "./services.ts";
import type { StreamOptions } from "./stream-options.ts";

/** How the RPC face behaves. */
export interface RpcOptions {
  /** Told of everything that went wrong through nobody's fault but ours; callers see no more than "internal error". */
  readonly onError: (error: unknown, context: string) => void;
  /** The largest request message in bytes, decompressed. Default 65,536: requests hold a name and little else. */
  readonly readMaxBytes?: number | undefined;
  /**
   * The largest page of a list in bytes of protobuf. Default 4 MiB, which is what gRPC clients take unless told otherwise.
   * No response message is ever larger than eight times this, which is about what the same message takes as JSON.
   */
  readonly writeMaxBytes?: number | undefined;
  /** How many streaming calls there may be at once. */
  readonly streams?: StreamOptions | undefined;
  /** What every request passes before its body is read. */
  readonly gate: Gate;
  /** How often a stream of the loggers without news has a heartbeat, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
}

/** The RPC face: gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2. */
export interface RpcHandler {
  /** Answers the request if its path is one of RPC. Otherwise returns false and has done nothing. Never throws. */
  handle(req: GateRequest, res: GateResponse): boolean;
  /** Ends every open stream with UNAVAILABLE and refuses new ones. For draining. */
  endStreams(): void;
  /** How many streams are open now, by method: `actuator.v3.LoggersService/WatchLoggers`. */
  readonly openStreams: ReadonlyMap<string, number>;
  /** Full names of the services that are served. */
  readonly services: readonly string[];
}

/** Paths that are ours: the package of this project, and those of gRPC's standard services. */
const PREFIXES = ["/actuator.v3.", "/grpc."];
/** That of OpenTelemetry's service, where it is served. */
const OTLP_PREFIX = "/opentelemetry.proto.collector.trace.v1.";
const JSON_FACTOR = 8;

/** Builds the RPC face over the endpoints. A domain left out answers UNIMPLEMENTED and is listed nowhere. */
export function createRpcHandler(endpoints: Endpoints, options: RpcOptions): RpcHandler {
  const { gate, onError, readMaxBytes = 64 * 1024, writeMaxBytes = 4 * 1024 * 1024, heartbeatMs = 15_000 } = options;
  const streams = new OpenStreams(options.streams);
  const admit = requestGate(gate, onError);
  const router = callRouter({
    gate,
    requestGate: admit,
    streams,
    onError,
    readMaxBytes,
    writeMaxBytes: JSON_FACTOR * writeMaxBytes,
  });
  const services = registerServices(router, endpoints, { maxBytes: writeMaxBytes, heartbeatMs }, admit);
  const streaming = router.handlers.filter(({ method }) => method.methodKind !== "unary");
  const answer = callHandler(router, { gate, onError });
  const prefixes = endpoints.otlp === undefined ? PREFIXES : [...PREFIXES, OTLP_PREFIX];

  return {
    services,
    get openStreams() {
      const methods = streaming.map(({ requestPath }) => requestPath.slice(1));
      return new Map(methods.map((method) => [method, streams.sizeOf(method)]));
    },
    endStreams: () => streams.end(),
    handle(req, res) {
      const url = rpcUrl(req, prefixes);
      if (url === undefined) return false;
      answer(req, res, url);
      return true;
    },
  };
}

/** The URL of the request, where it is one of RPC. Frameworks that mount a handler under a path keep the whole one aside. */
function rpcUrl(req: GateRequest, prefixes: readonly string[]): string | undefined {
  const { originalUrl } = req as { readonly originalUrl?: string };
  const isRpc = (url: string) => prefixes.some((prefix) => url.startsWith(prefix));
  if (originalUrl !== undefined && isRpc(originalUrl)) return originalUrl;
  return isRpc(req.url ?? "") ? req.url : undefined;
}
