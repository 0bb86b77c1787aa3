import { PREFACE } from "../../src/server/port.ts";
import type { Random } from "../support/random.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, hpack, requestHeaders, settings } from "../support/server-frames.ts";
import type { Input } from "../support/server-hostile-inputs.ts";

const LAST = END_HEADERS | END_STREAM;
const PADDED = 8;
const WITH_PRIORITY = 0x20;

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const setting = (id: number, value: number) => Buffer.concat([Buffer.from([0, id]), uint32(value)]);
const get = (id: number, path = "/actuator/loggers") => requestHeaders(id, { ":path": path }, LAST);
const post = (id: number, fields: Readonly<Record<string, string>> = {}) =>
  requestHeaders(
    id,
    { ":method": "POST", ":path": "/actuator/loggers/ROOT", "content-type": "application/json", ...fields },
    END_HEADERS,
  );
const watch = (id: number, path: string) =>
  Buffer.concat([
    requestHeaders(
      id,
      { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
      END_HEADERS,
    ),
    frame(FRAME.DATA, END_STREAM, id, Buffer.alloc(5)),
  ]);
const reset = (id: number, code = 8) => frame(FRAME.RST_STREAM, 0, id, uint32(code));
const times = (count: number, bytes: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => bytes(index)));
const flood = (...bytes: readonly Buffer[]): Input => [Buffer.concat([PREFACE, settings(), ...bytes])];

const WATCHES = [
  "/actuator.v3.LoggersService/WatchLoggers",
  "/grpc.health.v1.Health/Watch",
  "/actuator.v3.IntegrationGraphService/WatchIntegrationGraph",
];

/** What an attacker writes on an HTTP/2 connection. */
export const HTTP2_INPUTS: Readonly<Record<string, (random: Random) => Input>> = {
  "a flood of SETTINGS": () => flood(times(1_500, () => settings())),
  "settings of any size": (random) =>
    flood(
      frame(
        FRAME.SETTINGS,
        random.below(2),
        random.below(2),
        times(random.below(200), () => setting(random.below(20), random.pick([0, 1, 2, 2 ** 31, 2 ** 32 - 1, 16_383]))),
      ),
      get(1),
    ),
  "a table that shrinks and grows": () =>
    flood(
      times(300, (index) =>
        Buffer.concat([
          frame(FRAME.SETTINGS, 0, 0, setting(1, index % 2 === 0 ? 0 : 2 ** 32 - 1)),
          get(2 * index + 1, "/actuator"),
        ]),
      ),
    ),
  "a flood of PING": () => flood(times(3_000, () => frame(FRAME.PING, 0, 0, Buffer.alloc(8)))),
  "acknowledgements of PINGs that were not sent": () =>
    flood(times(500, () => frame(FRAME.PING, 1, 0, Buffer.alloc(8)))),
  "rapid reset": (random) =>
    flood(
      times(300, (index) =>
        Buffer.concat([get(2 * index + 1, random.pick(["/actuator/loggers", "/actuator"])), reset(2 * index + 1)]),
      ),
    ),
  "rapid reset of calls": () =>
    flood(times(200, (index) => Buffer.concat([watch(2 * index + 1, WATCHES[index % 3]!), reset(2 * index + 1)]))),
  "made you reset": (random) => {
    const mistake = random.pick<(id: number) => Buffer>([
      (id) => frame(FRAME.WINDOW_UPDATE, 0, id, uint32(0)),
      (id) => frame(FRAME.WINDOW_UPDATE, 0, id, uint32(2 ** 31 - 1)),
      (id) => frame(FRAME.DATA, END_STREAM, id, Buffer.from("x")),
      (id) => frame(FRAME.PRIORITY, 0, id, Buffer.alloc(5)),
      (id) => get(id),
    ]);
    return flood(times(150, (index) => Buffer.concat([get(2 * index + 1), mistake(2 * index + 1)])));
  },
  "a flood of CONTINUATION": (random) =>
    flood(
      requestHeaders(1, {}, 0),
      times(random.pick([50, 3_000]), () =>
        frame(FRAME.CONTINUATION, 0, 1, random.pick([Buffer.alloc(0), hpack({ a: "b" }), random.bytes(20)])),
      ),
    ),
  "headers of a megabyte": () =>
    flood(
      requestHeaders(1, {}, 0),
      times(80, () => frame(FRAME.CONTINUATION, 0, 1, Buffer.concat(Array(130).fill(hpack({ a: "b".repeat(120) }))))),
      frame(FRAME.CONTINUATION, END_HEADERS, 1),
    ),
  "a bomb of HPACK": () => {
    // One long field goes into the table, and thousands of single bytes name it again.
    const name = Buffer.concat([
      Buffer.from([0x40, 1]),
      Buffer.from("a"),
      Buffer.from([0x7f, 0xc1, 0x1d]),
      Buffer.alloc(3_904, "b"),
    ]);
    return flood(
      times(10, (index) =>
        frame(
          FRAME.HEADERS,
          LAST,
          2 * index + 1,
          Buffer.concat([
            hpack({ ":method": "GET", ":scheme": "http", ":path": "/", ":authority": "x" }),
            index === 0 ? name : Buffer.alloc(0),
            Buffer.alloc(12_000, 0xbe),
          ]),
        ),
      ),
    );
  },
  "broken HPACK": (random) =>
    flood(
      frame(
        FRAME.HEADERS,
        LAST,
        1,
        random.pick([
          Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]),
          Buffer.from([0x80]),
          Buffer.from([0x3f, 0xff, 0xff, 0x7f]),
          Buffer.from([0, 0x81, 0xff]),
          random.bytes(40),
        ]),
      ),
    ),
  "a flood of WINDOW_UPDATE": (random) =>
    flood(
      get(1),
      times(2_000, () => frame(FRAME.WINDOW_UPDATE, 0, random.below(2), uint32(random.pick([1, 0, 2 ** 31 - 1])))),
    ),
  "a flood of empty DATA": () =>
    flood(
      post(1),
      times(3_000, () => frame(FRAME.DATA, 0, 1)),
      frame(FRAME.DATA, END_STREAM, 1),
    ),
  "a flood of padding": () =>
    flood(
      post(1),
      times(100, () => frame(FRAME.DATA, PADDED, 1, Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]))),
    ),
  "padding that lies": (random) =>
    flood(post(1), frame(FRAME.DATA, PADDED, 1, Buffer.from([random.below(256), 1, 2])), get(3)),
  "a flood of PRIORITY": (random) =>
    flood(
      times(2_000, () =>
        frame(
          FRAME.PRIORITY,
          0,
          1 + 2 * random.below(1_000),
          Buffer.concat([uint32(random.below(2 ** 31)), Buffer.from([16])]),
        ),
      ),
    ),
  "a stream that depends on itself": () =>
    flood(
      frame(
        FRAME.HEADERS,
        LAST | WITH_PRIORITY,
        1,
        Buffer.concat([
          uint32(1),
          Buffer.from([255]),
          hpack({ ":method": "GET", ":scheme": "http", ":path": "/", ":authority": "x" }),
        ]),
      ),
    ),
  "a push from a client": () =>
    flood(frame(FRAME.PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([uint32(2), hpack({ ":path": "/" })]))),
  "frames of unknown types": (random) =>
    flood(
      times(500, () => frame(20 + random.below(200), random.below(256), random.below(5), random.bytes(9))),
      get(1),
    ),
  "a frame larger than allowed": () => flood(post(1), frame(FRAME.DATA, 0, 1, Buffer.alloc(16_385)), get(3)),
  "goodbye, and on": (random) =>
    flood(
      frame(FRAME.GOAWAY, 0, 0, Buffer.concat([uint32(random.below(9)), uint32(random.below(14))])),
      times(20, (index) => get(2 * index + 1)),
    ),
  "streams out of order": (random) => flood(times(20, () => get(random.pick([1, 2, 3, 5, 99, 7, 0, 2 ** 31 - 1])))),
  "DATA and RST on idle streams": (random) =>
    flood(
      random.pick([frame(FRAME.DATA, 0, 7, Buffer.from("x")), reset(9), frame(FRAME.WINDOW_UPDATE, 0, 11, uint32(1))]),
      get(1),
    ),
  "a length that lies": (random) =>
    flood(
      post(1, { "content-length": random.pick(["1", "99999", "-1", "x"]) }),
      frame(FRAME.DATA, END_STREAM, 1, Buffer.from("{}")),
      get(3),
    ),
  "trailers of a request": (random) =>
    flood(
      post(1),
      frame(FRAME.DATA, 0, 1, Buffer.from("{}")),
      frame(
        FRAME.HEADERS,
        random.pick([LAST, END_HEADERS]),
        1,
        hpack(random.pick([{ ":path": "/x" }, { a: "b" }, { "content-length": "5" }])),
      ),
    ),
  "forbidden fields": (random) =>
    flood(
      requestHeaders(
        1,
        {
          [random.pick(["connection", "transfer-encoding", "upgrade", "keep-alive", "proxy-connection", "te"])]:
            random.pick(["close", "chunked", "h2c"]),
        },
        LAST,
      ),
      get(3),
    ),
  "a tunnel": (random) =>
    flood(
      frame(
        FRAME.HEADERS,
        END_HEADERS,
        1,
        hpack(
          random.pick<Record<string, string>>([
            { ":method": "CONNECT", ":authority": "127.0.0.1:22" },
            { ":method": "CONNECT", ":protocol": "websocket", ":scheme": "http", ":path": "/", ":authority": "x" },
          ]),
        ),
      ),
      frame(FRAME.DATA, 0, 1, Buffer.from("x")),
    ),
  "answers at window 0": (random) => [
    Buffer.concat([
      PREFACE,
      settings(0),
      times(100, (index) => get(2 * index + 1, random.pick(["/actuator/loggers", "/actuator/integrationgraph"]))),
    ]),
    random.below(50),
  ],
  "an answer a byte at a time": () => {
    const writes: (Buffer | number)[] = [Buffer.concat([PREFACE, settings(0), get(1)])];
    for (let drop = 0; drop < 20; drop++) writes.push(10, frame(FRAME.WINDOW_UPDATE, 0, 1, uint32(1)));
    return writes;
  },
  "a hundred watches, left": (random) => [
    Buffer.concat([PREFACE, settings(), times(100, (index) => watch(2 * index + 1, random.pick(WATCHES)))]),
    random.below(30),
  ],
  "more streams than allowed": (random) => flood(times(150, (index) => watch(2 * index + 1, random.pick(WATCHES)))),
  "a preface twice": () => [Buffer.concat([PREFACE, PREFACE, settings()])],
  "HTTP/1.1 behind a preface": () => [
    Buffer.concat([PREFACE, Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")]),
  ],
  "a body in drops": (random) => {
    const writes: (Buffer | number)[] = [Buffer.concat([PREFACE, settings(), post(1)])];
    for (let drops = random.below(30); drops > 0; drops--)
      writes.push(10 + random.below(30), frame(FRAME.DATA, 0, 1, Buffer.from(" ")));
    return writes;
  },
};
