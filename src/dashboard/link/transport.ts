import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";

/** The flag of the last frame of a stream, which is JSON. */
const END = 0x02;

/**
 * The Connect protocol in its binary form over `fetch`, for unary and server-streaming methods. The transport of connect-web has the JSON
 * form, compression and more, too: 11 of the 65 KB that the page may have.
 *
 * @see https://connectrpc.com/docs/protocol
 */
export function binaryTransport(base: string, authorization: string | undefined): Transport {
  async function post(path: string, contentType: string, body: Uint8Array, signal: AbortSignal | undefined) {
    const headers = new Headers({ "Content-Type": contentType, "Connect-Protocol-Version": "1" });
    if (authorization !== undefined) headers.set("Authorization", authorization);
    try {
      return await fetch(`${base}/${path}`, {
        method: "POST",
        headers,
        body: body as Uint8Array<ArrayBuffer>,
        cache: "no-store",
        ...(signal && { signal }),
      });
    } catch (error) {
      throw unreachable(error, signal);
    }
  }

  return {
    async unary(method, signal, _timeoutMs, _header, input) {
      const { parent, name, output } = method;
      const request = toBinary(method.input, create(method.input, input));
      const response = await post(`${parent.typeName}/${name}`, "application/proto", request, signal);
      if (!response.ok) throw await refusal(response);
      const message = fromBinary(output, new Uint8Array(await response.arrayBuffer()));
      const header = response.headers;
      return { stream: false, service: parent, method, header, message, trailer: new Headers() };
    },
    async stream(method, signal, _timeoutMs, _header, input) {
      const { parent, name } = method;
      let request = new Uint8Array();
      for await (const each of input) request = toBinary(method.input, create(method.input, each));
      const body = new Uint8Array(5 + request.length);
      new DataView(body.buffer).setUint32(1, request.length);
      body.set(request, 5);
      const response = await post(`${parent.typeName}/${name}`, "application/connect+proto", body, signal);
      if (!response.ok) throw await refusal(response);
      const message = messages(response, method.output, signal);
      return { stream: true, service: parent, method, header: response.headers, message, trailer: new Headers() };
    },
  };
}

/** The messages of a stream. Throws what its last frame says, or that the connection broke before it. */
async function* messages<O extends DescMessage>(
  { body }: Response,
  output: O,
  signal: AbortSignal | undefined,
): AsyncGenerator<MessageShape<O>, void> {
  const reader = body!.getReader();
  let rest = new Uint8Array();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw unreachable(error, signal);
      });
      if (done) throw new ConnectError("The connection to the server broke.", Code.Unavailable);
      rest = joined(rest, value);
      for (let size = frameSize(rest); size !== undefined && rest.length >= size; size = frameSize(rest)) {
        const frame = rest.subarray(5, size);
        if ((rest[0]! & END) !== 0) {
          const { error } = JSON.parse(new TextDecoder().decode(frame)) as { error?: WireError };
          if (error !== undefined) throw errorFrom(error);
          return;
        }
        yield fromBinary(output, frame);
        rest = rest.subarray(size);
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** The size of the first frame with its head; undefined while the head is not complete. */
function frameSize(bytes: Uint8Array): number | undefined {
  return bytes.length < 5 ? undefined : 5 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}

function joined(first: Uint8Array<ArrayBuffer>, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** An error on the wire. */
interface WireError {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly type: string; readonly value: string }[];
}

async function refusal(response: Response): Promise<ConnectError> {
  try {
    return errorFrom((await response.json()) as WireError, response.status);
  } catch {
    return new ConnectError(`HTTP ${response.status}`, BY_STATUS[response.status] ?? Code.Unavailable);
  }
}

function errorFrom({ code = "", message = "", details = [] }: WireError, status = 0): ConnectError {
  const error = new ConnectError(message, CODES.get(code) ?? BY_STATUS[status] ?? Code.Unknown);
  error.details = details.map(({ type, value }) => ({
    type,
    value: Uint8Array.from(atob(value), (character) => character.charCodeAt(0)),
  }));
  return error;
}

function unreachable(error: unknown, signal: AbortSignal | undefined): ConnectError {
  if (signal?.aborted) return new ConnectError("The call was cancelled.", Code.Canceled);
  const what = error instanceof Error ? error.message : String(error);
  return new ConnectError(`The server cannot be reached: ${what}`, Code.Unavailable);
}

/** By the names on the wire, such as `permission_denied`. */
const CODES: ReadonlyMap<string, Code> = new Map(
  Object.entries(Code).flatMap(([name, code]) =>
    typeof code === "number" ? [[name.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase(), code] as const] : [],
  ),
);

/** What proxies answer in place of the server. */
const BY_STATUS: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.Unimplemented,
};
