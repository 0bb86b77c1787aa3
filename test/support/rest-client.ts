import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";

/** A request whose every byte the test decides. */
export interface RestRequest {
  /** Default: GET. */
  readonly method?: string;
  /** Sent as it stands: no dot is resolved and nothing is encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface RestResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Sends one request and resolves to its response. */
export type RestClient = (request: RestRequest) => Promise<RestResponse>;

/** Speaks HTTP/1.1 over a socket of its own for each request, because every real client tidies up what it is given. */
export function http1Client(port: number): RestClient {
  return async ({ method = "GET", path, headers = {}, body }) => {
    const lines = { Host: `127.0.0.1:${port}`, Connection: "close", ...headers };
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const head = Object.entries({ ...lines, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n`, "latin1");
    return exchangeBytes(port, Buffer.concat([request, Buffer.from(body ?? "")]));
  };
}

/** Sends bytes, and reads the response until the server closes the connection. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<RestResponse> {
  const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  // A reset after the response is no failure; without a response there is nothing to parse.
  socket.on("error", () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.on("close", resolve));
  return parseResponse(Buffer.concat(chunks));
}

function parseResponse(bytes: Buffer): RestResponse {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`No response: ${JSON.stringify(bytes.toString("latin1"))}`);
  const [statusLine, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(end + 4);
  return { status: Number(statusLine!.split(" ")[1]), headers, bytes: body, text: body.toString() };
}

/** Speaks HTTP/2 with prior knowledge, over one session. */
export function http2Client(port: number): { readonly client: RestClient; readonly close: () => void } {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  return { client: (request) => sendOver(session, request), close: () => session.destroy() };
}

async function sendOver(session: http2.ClientHttp2Session, request: RestRequest): Promise<RestResponse> {
  const { method = "GET", path, headers = {}, body } = request;
  const { Host: authority, ...fields } = headers;
  const pseudo = { ":method": method, ":path": path, ...(authority !== undefined && { ":authority": authority }) };
  const stream = session.request({ ...pseudo, ...fields }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  let answer: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {};
  stream.on("response", (response) => {
    answer = response;
  });
  await once(stream, "end");
  const { ":status": status, ...rest } = answer;
  const bytes = Buffer.concat(chunks);
  const named = Object.entries(rest).map(([name, value]) => [name, String(value)] as const);
  return { status: status!, headers: Object.fromEntries(named), bytes, text: bytes.toString() };
}
