/** Frame types of RFC 9113 section 6. */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

/** Flags of a HEADERS frame. */
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** One frame, whatever its content is worth. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** The settings that an HTTP/2 connection begins with; a window of 0 lets no answer's body through. */
export function settings(initialWindowSize = 65_535): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(4, 0);
  payload.writeUInt32BE(initialWindowSize, 2);
  return frame(FRAME.SETTINGS, 0, 0, payload);
}

/** Headers without compression state: literal fields without indexing. Short names and values only. */
export function hpack(fields: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name, "latin1"),
        Buffer.from([value.length]),
        Buffer.from(value, "latin1"),
      ]),
    ),
  );
}

/** The HEADERS frame of a request. */
export function requestHeaders(streamId: number, fields: Readonly<Record<string, string>>, flags: number): Buffer {
  const all = { ":method": "GET", ":scheme": "http", ":authority": "localhost", ":path": "/", ...fields };
  return frame(FRAME.HEADERS, flags, streamId, hpack(all));
}

/** Takes a server's bytes (latin1) apart; a frame that is not whole yet is left out. */
export function framesOf(received: string): { type: number; streamId: number; payload: Buffer }[] {
  const bytes = Buffer.from(received, "latin1");
  const frames = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const streamId = bytes.readUInt32BE(at + 5);
    frames.push({ type: bytes.readUInt8(at + 3), streamId, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}
