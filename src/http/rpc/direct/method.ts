import type { DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Gate } from "../../gate/gate.ts";
import type { OpenStreams } from "../calls/open-streams.ts";
import type { RequestGate } from "../calls/request-gate.ts";
import type { Frames } from "./frames.ts";

/** A method that the direct path serves: unary or server streaming. */
export interface DirectMethod {
  readonly desc: DescMethodUnary | DescMethodServerStreaming;
  /** `actuator.v3.LoggersService/GetLogger`. */
  readonly operation: string;
  /** The method of the service: a message or a promise of one, or an iterable of messages. */
  readonly implementation: (request: object, context: HandlerContext) => unknown;
  /** Decodes a request. @throws ConnectError */
  readonly decode: (bytes: Uint8Array, isBinary: boolean) => object;
  /** Encodes a response. @throws ConnectError */
  readonly encode: (message: object, isBinary: boolean) => Uint8Array;
  readonly frames: Frames;
  readonly jsonOptions: Parameters<typeof errorToJsonBytes>[1];
  readonly admit: RequestGate;
  readonly compressions: Compression[];
  readonly gate: Gate;
  readonly streams: OpenStreams;
  readonly onError: (error: unknown, context: string) => void;
  readonly readMaxBytes: number;
  readonly bodyTimeoutMs: number;
}
