import { type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import type { Gate } from "../gate/gate.ts";
import type { GateRequest, GateResponse } from "../gate/request.ts";
import { compressOnce } from "./compress-once.ts";
import { capDeadline } from "./deadline.ts";
import { exchange } from "./exchange.ts";
import { gzip } from "./gzip.ts";
import { rpcInterceptor } from "./interceptor.ts";
import type { OpenStreams } from "./open-streams.ts";
import { protocolOf } from "./protocol.ts";
import type { RequestGate } from "./request-gate.ts";
import { discardRest } from "./request-rest.ts";
import { answerUnknownMethod } from "./unimplemented.ts";

/** What calls are answered with, whatever services they are of. */
export interface CallOptions {
  readonly gate: Gate;
  /** What connect asks before it reads the message of a call. */
  readonly requestGate: RequestGate;
  readonly streams: OpenStreams;
  readonly onError: (error: unknown, context: string) => void;
  /** The largest message of a request and of a response in bytes, decompressed. */
  readonly readMaxBytes: number;
  readonly writeMaxBytes: number;
}

/** A router of connect, for services to be registered with. */
export function callRouter(options: CallOptions): ConnectRouter {
  const { gate, requestGate, streams, onError, readMaxBytes, writeMaxBytes } = options;
  return createConnectRouter({
    readMaxBytes,
    writeMaxBytes,
    acceptCompression: [compressOnce(gzip)],
    requestGate,
    interceptors: [rpcInterceptor(streams, onError, gate)],
  });
}

/** Answers every request as a call of the services that the router has by now; `url` is its URL within them. */
export function callHandler(
  { handlers }: ConnectRouter,
  { gate, onError }: Pick<CallOptions, "gate" | "onError">,
): (req: GateRequest, res: GateResponse, url: string) => void {
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  return (req, res, url) => {
    discardRest(req, res);
    capDeadline(req.headers);
    const handler = byPath.get(url.split("?", 1)[0]!);
    const context = gate.begin(req, res, protocolOf(req.headers["content-type"]));
    if (handler === undefined) {
      context.end("UNIMPLEMENTED");
      answerUnknownMethod(req, res);
    } else if (!gate.answerPreflight(context, res)) {
      context.operation = `${handler.service.typeName}/${handler.method.name}`;
      exchange(handler, req, res, url, context, onError);
    }
  };
}
