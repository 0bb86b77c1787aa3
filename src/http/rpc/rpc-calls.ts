import type { Endpoints } from "../endpoints.ts";
import { CallRouter } from "./call-router.ts";
import { OpenStreams } from "./calls/open-streams.ts";
import { requestGate } from "./calls/request-gate.ts";
import { LocalCalls } from "./local-calls.ts";
import type { RpcOptions } from "./rpc-options.ts";
import { registerServices } from "./services.ts";

/** Answers the calls of the RPC interface. Loaded with the first call, because it brings connect and Protocol Buffers. */
export interface RpcCalls {
  readonly router: Pick<CallRouter, "answer" | "answerStream">;
  /** Calls from within this process. */
  readonly local: Pick<LocalCalls, "clients" | "serves">;
  endStreams(): void;
  /** The number of open streams of a method. */
  openStreams(method: string): number;
}

const JSON_FACTOR = 8;

/** Creates the services of the endpoints. A missing domain answers UNIMPLEMENTED and is not listed. */
export function rpcCalls(endpoints: Endpoints, options: RpcOptions): RpcCalls {
  const { gate, onError, readMaxBytes = 64 * 1024, writeMaxBytes = 4 * 1024 * 1024, heartbeatMs = 15_000 } = options;
  const { bodyTimeoutMs = 30_000 } = options;
  const streams = new OpenStreams(options.streams);
  const admit = requestGate(gate, onError);
  const router = new CallRouter({
    gate,
    requestGate: admit,
    streams,
    onError,
    bodyTimeoutMs,
    readMaxBytes,
    writeMaxBytes: JSON_FACTOR * writeMaxBytes,
  });
  const local = new LocalCalls(gate, streams);
  registerServices(router, endpoints, { maxBytes: writeMaxBytes, heartbeatMs }, gate, admit, local, onError);
  return {
    router,
    local,
    endStreams: () => streams.end(),
    openStreams: (method) => streams.sizeOf(method),
  };
}
