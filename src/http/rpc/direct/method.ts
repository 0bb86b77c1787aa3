import type { DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { CallOptions, ServiceOptions } from "../calls/call-options.ts";
import type { Frames } from "./frames.ts";

/** A method that the direct path serves: unary or server streaming. */
export interface DirectMethod extends Required<CallOptions>, Pick<ServiceOptions, "jsonOptions"> {
  readonly compressions: Compression[];
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
}
