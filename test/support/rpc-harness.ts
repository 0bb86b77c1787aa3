import type { DescService } from "@bufbuild/protobuf";
import { type Client, type ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import type { Endpoints } from "../../src/http/endpoints.ts";
import { createRpcHandler, type RpcHandler } from "../../src/http/rpc/handler.ts";
import type { RpcOptions } from "../../src/http/rpc/rpc-options.ts";
import type { LoggerAdapter } from "../../src/loggers/adapter.ts";
import { Health } from "../../src/operations/health/health.ts";
import type { RequestHandler, StreamHandler } from "../../src/server/handler.ts";
import type { Listener } from "../../src/server/listener.ts";
import type { Session } from "../../src/sessions/session.ts";
import type { SessionStore } from "../../src/sessions/store.ts";
import { nativeHandle } from "./native-handle.ts";
import { OPEN_GATE } from "./open-gate.ts";
import { serve } from "./server-harness.ts";

/** The RPC face on a real listener, and what the test wants to look at. */
export interface RpcServer {
  readonly url: string;
  readonly port: number;
  readonly listener: Listener;
  readonly rpc: RpcHandler;
  readonly health: CountingHealth;
  /** Every request, in order. */
  readonly requests: { readonly method: string | undefined; readonly httpVersion: string }[];
  /** What went to `onError`. */
  readonly errors: { readonly error: unknown; readonly context: string }[];
}

/** Serves these endpoints on a free port of 127.0.0.1 until the test ends. What is no RPC gets 404 and the word "other". */
export async function serveRpc(
  endpoints: Partial<Endpoints> = {},
  options: Partial<RpcOptions> = {},
): Promise<RpcServer> {
  const health = new CountingHealth();
  const errors: RpcServer["errors"] = [];
  const requests: RpcServer["requests"] = [];
  const onError = (error: unknown, context: string) => void errors.push({ error, context });
  const rpc = createRpcHandler(
    { application: { startTime: Date.now() }, health, ...endpoints },
    { gate: OPEN_GATE, onError, ...options },
  );
  const noted = (method: string | undefined, httpVersion: string) => requests.push({ method, httpVersion });
  const handler: RequestHandler = (req, res) => {
    noted(req.method, req.httpVersion);
    if (rpc.handle(req, res)) return;
    res.statusCode = 404;
    res.end("other");
  };
  const streamHandler: StreamHandler = (stream, headers, rawHeaders) => {
    const isTaken = rpc.handleStream(stream, headers, rawHeaders);
    if (isTaken) noted(headers[":method"] as string, "2.0");
    return isTaken;
  };
  const { listener, port, url } = await serve(handler, { streamHandler });
  return { url, port, listener, rpc, health, requests, errors };
}

/** The health of the process, which also tells how many listen to it. */
export class CountingHealth extends Health {
  listeners = 0;

  override onChange(listener: Parameters<Health["onChange"]>[0]): () => void {
    this.listeners++;
    const off = super.onChange(listener);
    return () => {
      this.listeners--;
      off();
    };
  }
}

/** A protocol and the HTTP version under it, as a client of connect-node speaks them. */
export interface Wire {
  readonly protocol: "Connect JSON" | "Connect binary" | "gRPC" | "gRPC-Web";
  readonly httpVersion: "1.1" | "2";
}

/**
 * Every protocol over every version of HTTP on the one port. One does not exist: gRPC needs the trailers of HTTP/2, and
 * its clients speak nothing else.
 */
export const WIRES: readonly Wire[] = [
  { protocol: "Connect JSON", httpVersion: "1.1" },
  { protocol: "Connect JSON", httpVersion: "2" },
  { protocol: "Connect binary", httpVersion: "1.1" },
  { protocol: "Connect binary", httpVersion: "2" },
  { protocol: "gRPC", httpVersion: "2" },
  { protocol: "gRPC-Web", httpVersion: "1.1" },
  { protocol: "gRPC-Web", httpVersion: "2" },
];

type TransportOptions = Pick<
  Parameters<typeof createConnectTransport>[0],
  "useHttpGet" | "acceptCompression" | "sendCompression" | "compressMinBytes"
>;

/** A transport of connect-node over a wire. */
export function transportOver(
  { protocol, httpVersion }: Wire,
  baseUrl: string,
  options: TransportOptions = {},
): Transport {
  // The types of the three tie each option to one HTTP version.
  const all = { baseUrl, httpVersion, ...options } as { baseUrl: string; httpVersion: "2" };
  if (protocol === "gRPC") return createGrpcTransport(all);
  if (protocol === "gRPC-Web") return createGrpcWebTransport(all);
  return createConnectTransport({ ...all, useBinaryFormat: protocol === "Connect binary" });
}

/** A client over gRPC, for tests where the protocol does not matter. */
export function grpcClient<S extends DescService>(service: S, url: string): Client<S> {
  return createClient(service, transportOver({ protocol: "gRPC", httpVersion: "2" }, url));
}

/** The ErrorInfo of an error, without what protobuf adds. */
export function errorInfo(error: ConnectError) {
  const [info] = error.findDetails(ErrorInfoSchema);
  return info && { reason: info.reason, domain: info.domain, metadata: info.metadata };
}

/** A logging library that has these loggers and does what it is told. */
export function libraryOf(names: Iterable<string>, kind = "test"): LoggerAdapter {
  return {
    kind,
    attach(host) {
      for (const name of names) host.discovered(name, nativeHandle());
      return () => {};
    },
  };
}

/** A store that never answers: every call waits forever. */
export function silentStore(): SessionStore {
  const never = () => new Promise<never>(() => {});
  return { kind: "silent", findById: never, findByUsername: never, delete: never };
}

/** A store that holds just these sessions, in this order. */
export function fixedStore(sessions: readonly Session[]): SessionStore {
  return {
    kind: "fixed",
    findById: async (id) => sessions.find((session) => session.id === id),
    findByUsername: async (username) => ({
      sessions: sessions.filter((session) => session.username === username),
      partial: false,
    }),
    delete: async (id) => sessions.some((session) => session.id === id),
  };
}
