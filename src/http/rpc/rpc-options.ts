import type { Gate } from "../gate/gate.ts";
import type { StreamOptions } from "./calls/stream-options.ts";

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
