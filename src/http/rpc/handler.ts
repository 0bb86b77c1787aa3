import { fail } from "../../server/guard.ts";
import type { StreamHandler } from "../../server/handler.ts";
import type { Endpoints } from "../endpoints.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { STREAMING_METHODS } from "./calls/permissions.ts";
import type { RpcCalls } from "./rpc-calls.ts";
import type { RpcOptions } from "./rpc-options.ts";

/** The RPC interface: gRPC, gRPC-Web and Connect over HTTP/1.1 and HTTP/2. */
export interface RpcHandler {
  /** Answers a request to a path of RPC; returns false for any other, without an effect. Never throws. */
  handle(req: GateRequest, res: GateResponse): boolean;
  /** Answers a stream of HTTP/2 before Node.js makes a request of it, if it can; otherwise returns false, without an effect. */
  handleStream: StreamHandler;
  /** What answers calls, which the first one loads. */
  calls(): Promise<RpcCalls>;
  /** Ends every open stream with UNAVAILABLE and refuses new ones, for draining. */
  endStreams(): void;
  /** The number of open streams by method: `actuator.v3.LoggersService/WatchLoggers`. */
  readonly openStreams: ReadonlyMap<string, number>;
}

/** The prefixes of paths: the package of this project, and the standard services of gRPC. */
const PREFIXES = ["/actuator.v3.", "/grpc."];
/** The prefix of OpenTelemetry's service, if it is served. */
const OTLP_PREFIX = "/opentelemetry.proto.collector.trace.v1.";

/**
 * Creates the RPC interface of the endpoints. What answers calls is loaded with the first one, which takes some 60 ms and 15 MB, as much
 * as everything else: many processes are never called.
 */
export function createRpcHandler(endpoints: Endpoints, options: RpcOptions): RpcHandler {
  const { basePath = "/actuator", onError } = options;
  const prefixes = endpoints.otlp === undefined ? PREFIXES : [...PREFIXES, OTLP_PREFIX];
  const folders = [`${basePath}/rpc`, "/rpc", ""].flatMap((folder) =>
    prefixes.map((prefix): Folder => ({ folder, beginning: `${folder}${prefix}` })),
  );
  let calls: RpcCalls | undefined;
  let loading: Promise<RpcCalls> | undefined;
  let ended = false;

  async function load(): Promise<RpcCalls> {
    try {
      const { rpcCalls } = await import("./rpc-calls.ts");
      calls = rpcCalls(endpoints, options);
    } catch (error) {
      // A process with too many open files may load it later.
      loading = undefined;
      throw error;
    }
    if (ended) calls.endStreams();
    return calls;
  }

  return {
    get openStreams() {
      return new Map(STREAMING_METHODS.map((method) => [method, calls?.openStreams(method) ?? 0]));
    },
    calls: async () => calls ?? (loading ??= load()),
    endStreams() {
      ended = true;
      calls?.endStreams();
    },
    handle(req, res) {
      const url = rpcUrl(req, folders);
      if (url === undefined) return false;
      if (calls !== undefined) calls.router.answer(req, res, url);
      else {
        loading ??= load();
        // Middleware that listens to the body would let it pass meanwhile.
        const isFlowing = req.readableFlowing === true;
        if (isFlowing) req.pause();
        loading
          .then(({ router }) => {
            router.answer(req, res, url);
            if (isFlowing) req.resume();
          })
          .catch((error: unknown) => {
            onError(error, "rpc");
            fail(res);
          });
      }
      return true;
    },
    handleStream(stream, headers, rawHeaders) {
      const url = calls && urlBelow(headers[":path"] as string | undefined, folders);
      return url !== undefined && calls!.router.answerStream(stream, headers, rawHeaders, url);
    },
  };
}

/**
 * The URL of a request of RPC as at the root; undefined for any other request. Frameworks keep the URL with the mount path in
 * `originalUrl`, and may mount the handler at the base path.
 */
function rpcUrl(req: GateRequest, folders: readonly Folder[]): string | undefined {
  const { originalUrl, url } = req as { readonly originalUrl?: string; readonly url?: string };
  return urlBelow(originalUrl, folders) ?? urlBelow(url, folders);
}

/** Where calls are answered: the beginning of their paths, of which the folder is no part of a call. */
interface Folder {
  readonly folder: string;
  readonly beginning: string;
}

function urlBelow(url: string | undefined, folders: readonly Folder[]): string | undefined {
  if (url === undefined) return undefined;
  for (const { folder, beginning } of folders) if (url.startsWith(beginning)) return url.slice(folder.length);
  return undefined;
}
