import { connect, type Socket } from "node:net";

const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

/** A request as it goes over the wire. `body` is text or bytes; its length is added. */
export interface Http1Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export function http1Bytes({ method, path, headers = {}, body }: Http1Request): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const fields = {
    Host: "127.0.0.1",
    ...headers,
    ...(body !== undefined && { "Content-Length": String(content.length) }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), content]);
}

/**
 * Sends the same request on one kept-alive connection again and again, one at a time, and calls `answered` for each
 * answer. The first answer's length holds for all, so that reading costs the load nearly nothing.
 */
export function http1Connection(port: number, request: Uint8Array, answered: () => void): Socket {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(request));
  let head = Buffer.alloc(0);
  let length = 0;
  let received = 0;
  socket.on("data", (chunk) => {
    if (length === 0) {
      head = Buffer.concat([head, chunk]);
      length = answerLength(head);
      if (length === 0) return;
      received = head.length;
    } else {
      if (received === 0) assertGood(chunk);
      received += chunk.length;
    }
    if (received < length) return;
    if (received > length) throw new Error("an answer is longer than the first one");
    received = 0;
    answered();
    socket.write(request);
  });
  return socket;
}

/** The length of the answer that begins with `head`, or 0 while its header is not complete. */
function answerLength(head: Buffer): number {
  const end = head.indexOf("\r\n\r\n");
  if (end < 0) return 0;
  assertGood(head);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head.toString("latin1", 0, end))?.[1];
  if (length !== undefined) return end + 4 + Number(length);
  // In chunks, which are the same for every answer.
  return head.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? head.length : 0;
}

function assertGood(answer: Buffer): void {
  const status = answer.toString("latin1", 9, 12);
  if (status !== "200") throw new Error(`an answer with status ${status}`);
}
