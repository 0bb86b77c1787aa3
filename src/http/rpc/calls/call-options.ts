import type { UniversalHandlerOptions } from "@connectrpc/connect/protocol";
import type { Gate } from "../../gate/gate.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { RequestGate } from "./request-gate.ts";

/** What calls of all services share. */
export interface CallOptions {
  readonly gate: Gate;
  /** Called before the message of a call is read. */
  readonly requestGate: RequestGate;
  readonly streams: OpenStreams;
  readonly onError: (error: unknown, context: string) => void;
  /** How long a request may take to arrive at a mounted handler, in milliseconds. Default 0: no limit. */
  readonly bodyTimeoutMs?: number;
  /** The maximum size of a request message in bytes, decompressed. */
  readonly readMaxBytes: number;
  /** The maximum size of a response message in bytes, decompressed. */
  readonly writeMaxBytes: number;
}

/** Options of the methods of one service, which override those of all calls. */
export type ServiceOptions = Pick<Partial<UniversalHandlerOptions>, "binaryOptions" | "jsonOptions" | "readMaxBytes"> &
  Partial<Pick<CallOptions, "requestGate">>;
