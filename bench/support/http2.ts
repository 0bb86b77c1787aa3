import { connect, type Socket } from "node:net";

/** The parts of RFC 9113 that a load needs: https://www.rfc-editor.org/rfc/rfc9113#section-6 */
const DATA = 0x0;
const HEADERS = 0x1;
const RST_STREAM = 0x3;
const SETTINGS = 0x4;
const PING = 0x6;
const GOAWAY = 0x7;
const WINDOW_UPDATE = 0x8;
const END_STREAM = 0x1;
const ACK = 0x1;
const END_HEADERS = 0x4;
/** `:status: 200` in HPACK's static table; servers send it first: https://www.rfc-editor.org/rfc/rfc7541#appendix-A */
const STATUS_200 = 0x88;

/** A request as it goes over the wire, but for the stream's number. Pseudo-headers come first. */
export interface Http2Request {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

export function http2Bytes({ headers, body }: Http2Request): Buffer {
  const block = Buffer.concat(headers.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]));
  return Buffer.concat([frame(HEADERS, END_HEADERS, 1, block), frame(DATA, END_STREAM, 1, body)]);
}

/** A connection with prior knowledge that keeps `streams` requests open. */
export interface Http2Load {
  readonly port: number;
  readonly request: Uint8Array;
  readonly streams: number;
  /** Whether each answer ends without a body. */
  readonly bodiless: boolean;
  readonly answered: () => void;
}

/**
 * Sends requests and calls `answered` for each answer. A request is the same bytes every time but for the stream's number, so that
 * the load costs nearly nothing.
 */
export function http2Connection({ port, request, streams, bodiless, answered }: Http2Load): Socket {
  const next = { stream: 1 };
  const send = () => {
    const bytes = Buffer.from(request);
    const dataFrame = 9 + bytes.readUIntBE(0, 3);
    bytes.writeUInt32BE(next.stream, 5);
    bytes.writeUInt32BE(next.stream, dataFrame + 5);
    next.stream += 2;
    return bytes;
  };
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => {
    const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    const window = Buffer.alloc(4);
    window.writeUInt32BE(2 ** 31 - 1 - 65_535);
    socket.write(Buffer.concat([preface, frame(SETTINGS, 0, 0), frame(WINDOW_UPDATE, 0, 0, window)]));
    socket.write(Buffer.concat(Array.from({ length: streams }, send)));
  });
  let rest: Buffer = Buffer.alloc(0);
  const begun = new Set<number>();
  const withBody = new Set<number>();
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const out: Buffer[] = [];
    let at = 0;
    while (rest.length - at >= 9) {
      const length = rest.readUIntBE(at, 3);
      if (rest.length - at < 9 + length) break;
      const [type, flags, stream] = [rest[at + 3]!, rest[at + 4]!, rest.readUInt32BE(at + 5)];
      const payload = rest.subarray(at + 9, at + 9 + length);
      at += 9 + length;
      if (type === SETTINGS && !(flags & ACK)) out.push(frame(SETTINGS, ACK, 0));
      if (type === PING && !(flags & ACK)) out.push(frame(PING, ACK, 0, payload));
      if (type === RST_STREAM || type === GOAWAY) throw new Error(`the server ended stream ${stream}`);
      if (type === DATA && length > 0) withBody.add(stream);
      if (type === HEADERS && !begun.has(stream)) {
        if (!payload.subarray(0, 8).includes(STATUS_200)) throw new Error("an answer with another status than 200");
        begun.add(stream);
      }
      if ((type === DATA || type === HEADERS) && flags & END_STREAM) {
        begun.delete(stream);
        if (withBody.delete(stream) === bodiless) throw new Error(`an answer ${bodiless ? "with" : "without"} a body`);
        answered();
        out.push(send());
      }
    }
    rest = rest.subarray(at);
    if (out.length > 0) socket.write(Buffer.concat(out));
  });
  return socket;
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HPACK's plainest string: length and bytes. https://www.rfc-editor.org/rfc/rfc7541#section-5.2 */
function literal(text: string): Buffer {
  if (text.length > 126) throw new Error("a header of the load is at most 126 bytes long");
  return Buffer.concat([Buffer.of(text.length), Buffer.from(text, "latin1")]);
}
