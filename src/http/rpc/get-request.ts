import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";

/**
 * Reads the message of a Connect GET ahead of connect, which answers `internal`, 500, for bad base64 and for malformed
 * protobuf where the fault is the caller's. Compressed messages are left to connect.
 *
 * @see https://connectrpc.com/docs/protocol#unary-get-request
 * @throws ConnectError INVALID_ARGUMENT
 */
export function checkGetRequest(context: HandlerContext): void {
  if (context.requestMethod !== "GET") return;
  const query = new URL(context.url).searchParams;
  const text = query.get("message") ?? "";
  const bytes = query.get("base64") === "1" ? decode(text) : Buffer.from(text);
  const compressed = (query.get("compression") ?? "identity") !== "identity";
  if (compressed || query.get("encoding") !== "proto") return;
  try {
    fromBinary(context.method.input, bytes);
  } catch (error) {
    throw invalid("The message is not valid protobuf.", error);
  }
}

function decode(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch (error) {
    throw invalid("The message is not valid base64.", error);
  }
}

function invalid(message: string, cause: unknown): ConnectError {
  return new ConnectError(message, Code.InvalidArgument, undefined, undefined, cause);
}
