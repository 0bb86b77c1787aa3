import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { constants } from "node:http2";
import { describe, expect, test } from "vitest";
import type { ServerAnswer } from "../../src/server/handler.ts";
import { DEFAULT_LIMITS, limitsWith } from "../../src/server/limits.ts";
import { PREFACE } from "../../src/server/port.ts";
import { patient } from "../support/patient-limits.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
import {
  closeOf,
  emptied,
  eventually,
  http1Request,
  http2Connect,
  http2Request,
  rawClient,
  serve,
} from "../support/server-harness.ts";

const soon = 100;
/** For a limit before which something else has to happen. */
const later = 1_000;

describe("over HTTP/1.1", () => {
  test("headers that never end: 408", async () => {
    const { port, listener } = await serve((_, res) => void res.end(), {
      limits: { ...patient, headersTimeoutMs: soon },
    });
    const client = await rawClient(port);
    client.socket.write("GET / HTTP/1.1\r\nHost: local");
    expect(await client.closed).toMatch(/^HTTP\/1\.1 408 /);
    await emptied(listener);
  });

  test("a body that never comes: 408", async () => {
    const { port, listener } = await serve((req, res) => req.resume().on("end", () => res.end()), {
      limits: { ...patient, headersTimeoutMs: soon, requestTimeoutMs: soon },
    });
    const client = await rawClient(port);
    client.socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123");
    expect(await client.closed).toMatch(/^HTTP\/1\.1 408 /);
    await emptied(listener);
  });

  test("a connection kept alive without a request is closed", async () => {
    const { port, listener } = await serve((_, res) => void res.end("hello"), {
      limits: { ...patient, keepAliveTimeoutMs: soon },
    });
    const client = await rawClient(port);
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*hello$/);
    await emptied(listener);
  });

  test("an answer that nobody reads is cut off", async () => {
    const asked = Promise.withResolvers<void>();
    const { port, listener } = await serve(
      (_, res) => {
        asked.resolve();
        res.end(Buffer.alloc(50_000_000));
      },
      { limits: { ...patient, stalledWriteTimeoutMs: soon } },
    );
    const client = await rawClient(port, { read: false });
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await asked.promise;
    await emptied(listener);
  });

  test("an answer that waits for news is not", async () => {
    let finish: () => unknown = () => {};
    let asked = false;
    const { url } = await serve(
      (_, res) => {
        (res as ServerResponse).write("first");
        finish = () => res.end(" last");
        asked = true;
      },
      { limits: { ...patient, stalledWriteTimeoutMs: soon, keepAliveTimeoutMs: soon } },
    );
    const answer = http1Request(url);
    await eventually(
      () => asked,
      () => "never asked",
    );
    await timePasses(5 * soon);
    finish();
    expect((await answer).body).toBe("first last");
  });

  test("an answer that is read slowly is not", async () => {
    const size = 20_000_000;
    const { port } = await serve((_, res) => void res.end(Buffer.alloc(size)), {
      limits: { ...patient, stalledWriteTimeoutMs: 10 * soon },
    });
    const client = await rawClient(port);
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    for (let share = 1; share <= 10; share++) {
      await eventually(
        () => client.socket.bytesRead >= (share * size) / 10,
        () => `part ${share} never came`,
      );
      client.socket.pause();
      await timePasses(1.5 * soon);
      client.socket.resume();
    }
    expect((await client.closed).length).toBeGreaterThan(size);
  });
});

describe("over HTTP/2", () => {
  test("a connection without a stream is closed", async () => {
    const { url, listener } = await serve((_, res) => void res.end("hello"), {
      limits: { ...patient, idleSessionTimeoutMs: later },
    });
    const used = await http2Connect(url);
    const closed = closeOf(used);
    expect((await http2Request(used, { ":path": "/" })).body).toBe("hello");
    const unused = await http2Connect(url);
    await Promise.all([closed, unused.closed || closeOf(unused)]);
    await emptied(listener);
  });

  test("a preface with nothing behind it is closed", async () => {
    const { port, listener } = await serve((_, res) => void res.end(), {
      limits: { ...patient, idleSessionTimeoutMs: soon },
    });
    const client = await rawClient(port);
    client.socket.write(PREFACE);
    await client.closed;
    await emptied(listener);
  });

  test("a connection whose stream waits for news is not idle", async () => {
    let finish: () => unknown = () => {};
    let asked = false;
    const { url } = await serve(
      (_, res) => {
        (res as ServerResponse).write("first");
        finish = () => res.end(" last");
        asked = true;
      },
      {
        limits: {
          ...patient,
          idleSessionTimeoutMs: later,
          stalledWriteTimeoutMs: soon,
          requestTimeoutMs: soon,
          pingIntervalMs: soon / 2,
          pingTimeoutMs: 10 * later,
        },
      },
    );
    const answer = http2Request(await http2Connect(url), { ":path": "/" });
    await eventually(
      () => asked,
      () => "never asked",
    );
    await timePasses(1.5 * later);
    finish();
    expect((await answer).body).toBe("first last");
  });

  test("an answer that takes its time is not cut off", async () => {
    const { url } = await serve((_, res) => void setTimeout(() => res.end("at last"), 1.5 * later), {
      limits: { ...patient, requestTimeoutMs: soon, stalledWriteTimeoutMs: soon, idleSessionTimeoutMs: later },
    });
    expect((await http2Request(await http2Connect(url), { ":path": "/" })).body).toBe("at last");
  });

  test("a request that goes on beside its answer is not cut off", async () => {
    const { url } = await serve((req, res) => void req.pipe(res as ServerResponse), {
      limits: { ...patient, requestTimeoutMs: later, stalledWriteTimeoutMs: soon, idleSessionTimeoutMs: later },
    });
    const stream = (await http2Connect(url)).request({ ":method": "POST" }, { endStream: false });
    stream.write("first");
    expect(String(await once(stream, "data"))).toBe("first");
    await timePasses(1.5 * later);
    stream.end("last");
    expect(String(await once(stream, "data"))).toBe("last");
  });

  test("a peer without a sign of life is dead, though its stream is open", async () => {
    let aborted = false;
    const asked = Promise.withResolvers<void>();
    const { port, listener } = await serve(
      (req) => {
        asked.resolve();
        req.on("aborted", () => (aborted = true));
      },
      { limits: { ...patient, pingIntervalMs: soon, pingTimeoutMs: soon } },
    );
    // Sends a request as it should and never answers a PING, as a stopped process would.
    const client = await rawClient(port);
    client.socket.write(Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
    await asked.promise;
    await client.closed;
    await emptied(listener);
    expect(aborted).toBe(true);
    expect(framesOf(client.received()).map(({ type }) => type)).toContain(FRAME.PING);
  });

  test("a peer that says goodbye and stays silent is dead, though its stream is open", async () => {
    const asked = Promise.withResolvers<void>();
    const { port, listener } = await serve(() => asked.resolve(), {
      limits: { ...patient, idleSessionTimeoutMs: soon },
    });
    const client = await rawClient(port);
    const goodbye = frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8));
    client.socket.write(Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM), goodbye]));
    await asked.promise;
    await emptied(listener);
  });

  test("a body that never comes is cut off, and its handler knows that it is not whole", async () => {
    let aborted = false;
    const { url, listener } = await serve(
      (req, res) => {
        req.on("aborted", () => {
          aborted = true;
        });
        req.resume().on("end", () => res.end());
      },
      { limits: { ...patient, requestTimeoutMs: soon } },
    );
    const session = await http2Connect(url);
    const stream = session.request({ ":method": "POST" }, { endStream: false });
    stream.on("error", () => {});
    stream.write("123");
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(aborted).toBe(true);
    expect(listener.counts).toMatchObject({ sessions: 1, streams: 0 });
  });

  test("a body that never ends behind its answer is cut off", async () => {
    const { url, listener } = await serve((req, res) => void req.resume().once("data", () => res.end("enough")), {
      limits: { ...patient, requestTimeoutMs: soon },
    });
    const stream = (await http2Connect(url)).request({ ":method": "POST" }, { endStream: false });
    stream.on("error", () => {});
    stream.write("123");
    expect(String(await once(stream, "data"))).toBe("enough");
    await eventually(
      () => listener.counts.streams === 0,
      () => JSON.stringify(listener.counts),
    );
  });

  test("an answer that nobody takes, at window 0, is cut off", async () => {
    const { port, listener } = await serve((_, res) => void res.end("hello"), {
      limits: { ...patient, stalledWriteTimeoutMs: soon },
    });
    const client = await rawClient(port);
    client.socket.write(Buffer.concat([PREFACE, settings(0), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
    const reset = () => framesOf(client.received()).find(({ type }) => type === FRAME.RST_STREAM);
    await eventually(
      () => reset() !== undefined,
      () => JSON.stringify(listener.counts),
    );
    expect(reset()!.payload.readUInt32BE()).toBe(constants.NGHTTP2_CANCEL);
    await eventually(
      () => listener.counts.streams === 0,
      () => JSON.stringify(listener.counts),
    );
    expect(listener.counts.sessions).toBe(1);
  });

  test.each([constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL])(
    "an answer that waits at window 0 goes when its stream is reset with code %d",
    async (code) => {
      const { port, listener } = await serve((_, res) => void res.end("hello"), { limits: patient });
      const client = await rawClient(port);
      client.socket.write(Buffer.concat([PREFACE, settings(0), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
      const answered = () => framesOf(client.received()).some(({ type }) => type === FRAME.HEADERS);
      await eventually(answered, client.received);
      expect(listener.counts.streams).toBe(1);
      client.socket.write(frame(FRAME.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code])));
      await eventually(
        () => listener.counts.streams === 0,
        () => JSON.stringify(listener.counts),
      );
      expect(listener.counts.sessions).toBe(1);
    },
  );

  test("a connection that reads nothing is cut off", async () => {
    const asked = Promise.withResolvers<void>();
    const { port, listener } = await serve(
      (_, res) => {
        asked.resolve();
        res.end(Buffer.alloc(50_000_000));
      },
      { limits: { ...patient, pingIntervalMs: soon, pingTimeoutMs: soon } },
    );
    const client = await rawClient(port, { read: false });
    const window = Buffer.alloc(4);
    window.writeUInt32BE(2 ** 30);
    const wide = frame(FRAME.WINDOW_UPDATE, 0, 0, window);
    client.socket.write(
      Buffer.concat([PREFACE, settings(2 ** 30), wide, requestHeaders(1, {}, END_HEADERS | END_STREAM)]),
    );
    await asked.promise;
    await emptied(listener);
  });

  test("it announces how many streams and how large headers it takes", async () => {
    const { url } = await serve((_, res) => void res.end(), {
      limits: { maxConcurrentStreams: 7, maxHeaderBytes: 5_000 },
    });
    const session = await http2Connect(url);
    if (session.remoteSettings.maxConcurrentStreams !== 7) await once(session, "remoteSettings");
    expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 7, maxHeaderListSize: 5_000 });
  });

  test("headers over the limit are refused also to a client that does not acknowledge it", async () => {
    let served = 0;
    const { port } = await serve((_, res) => void res.end(String(served++)), {
      limits: { ...patient, maxHeaderBytes: 1_000 },
    });
    const client = await rawClient(port);
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, "x".repeat(99)]));
    client.socket.write(Buffer.concat([PREFACE, settings()]));
    client.socket.write(requestHeaders(1, fields(8), END_HEADERS | END_STREAM));
    client.socket.write(requestHeaders(3, fields(2), END_HEADERS | END_STREAM));
    const ended = () =>
      framesOf(client.received()).filter(({ type }) => type === FRAME.RST_STREAM || type === FRAME.DATA);
    await eventually(
      () => new Set(ended().map(({ streamId }) => streamId)).size === 2,
      () => JSON.stringify(ended()),
    );
    const refused = ended().find(({ streamId }) => streamId === 1)!;
    expect(refused.type).toBe(FRAME.RST_STREAM);
    expect(refused.payload.readUInt32BE()).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(served).toBe(1);
  });

  test("streams over the limit are refused, the others served", async () => {
    const { port, listener } = await serve(() => {}, { limits: { ...patient, maxConcurrentStreams: 5 } });
    const client = await rawClient(port);
    client.socket.write(Buffer.concat([PREFACE, settings()]));
    // Not acknowledged: a client that knows the limit and exceeds it loses the connection.
    for (let id = 1; id <= 19; id += 2) client.socket.write(requestHeaders(id, {}, END_HEADERS | END_STREAM));
    const refused = () => framesOf(client.received()).filter(({ type }) => type === FRAME.RST_STREAM);
    await eventually(
      () => refused().length === 5,
      () => JSON.stringify(listener.counts),
    );
    expect(refused().map(({ payload }) => payload.readUInt32BE())).toEqual(
      Array(5).fill(constants.NGHTTP2_REFUSED_STREAM),
    );
    expect(listener.counts.streams).toBe(5);
  });
});

describe("a limit of 0", () => {
  const TIMES = Object.keys(DEFAULT_LIMITS).filter(
    (name) => name.endsWith("Ms") && !["sweepIntervalMs", "drainGraceMs", "drainDeadlineMs"].includes(name),
  );
  const none = {
    ...Object.fromEntries(TIMES.map((name) => [name, 0])),
    maxConnections: 0,
    maxConnectionsPerAddress: 0,
    maxRequestsPerConnection: 0,
    sweepIntervalMs: 20,
  };

  test("is none, over either protocol", async () => {
    const finish: (() => void)[] = [];
    const { url, port, listener } = await serve(
      (req, res) => {
        if (req.url === "/") return void res.end("hello");
        req.resume().on("end", () => res.end("whole"));
        finish.push(() => {});
      },
      { limits: none },
    );
    const silent = await rawClient(port);
    const [partial, body] = await Promise.all([rawClient(port), rawClient(port)]);
    partial.socket.write("GET / HTTP/1.1\r\nHost: local");
    body.socket.write("POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n12");
    const session = await http2Connect(url);
    const stream = session.request({ ":method": "POST", ":path": "/body" }, { endStream: false });
    const answered = once(stream, "data");
    stream.write("12");
    await eventually(
      () => finish.length === 2 && listener.counts.connections === 4,
      () => JSON.stringify(listener.counts),
    );
    await timePasses(5 * soon);
    silent.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    partial.socket.write("host\r\nConnection: close\r\n\r\n");
    body.socket.write("34");
    stream.end("34");
    expect(await silent.closed).toMatch(/hello$/);
    expect(await partial.closed).toMatch(/hello$/);
    await eventually(() => body.received().endsWith("whole"), body.received);
    expect(String((await answered)[0])).toBe("whole");
  });

  test.each([
    "maxHeaderBytes",
    "maxConcurrentStreams",
    "maxSessionMemoryMb",
    "maxInvalidFrames",
    "maxRejectedStreams",
    "sweepIntervalMs",
  ])("is refused for %s, which could serve no caller", (name) => {
    expect(() => limitsWith({ [name]: 0 })).toThrow(
      `limits.${name} must be a whole number from 1 to 2147483647, not 0`,
    );
  });

  test.each(Object.keys(DEFAULT_LIMITS))("%s is no negative number, fraction or text, and not without end", (name) => {
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "5"]) {
      expect(() => limitsWith({ [name]: value })).toThrow(`limits.${name} must be a whole number`);
    }
  });
});

test("a limit that does not exist is refused", () => {
  expect(() => limitsWith({ maxConection: 5 } as never)).toThrow('did you mean "maxConnections"?');
});

test("a limit of undefined is the default", () => {
  expect(limitsWith({ maxConnections: undefined, pingIntervalMs: 5 })).toEqual({
    ...DEFAULT_LIMITS,
    pingIntervalMs: 5,
  });
  expect(limitsWith()).toEqual(DEFAULT_LIMITS);
});

test("connections over the limit are dropped while all are at work, the others served", async () => {
  const under: ServerAnswer[] = [];
  const { url, port, listener } = await serve(
    (req, res) => void (req.url === "/" ? res.end("hello") : under.push(res)),
    {
      limits: { maxConnections: 3 },
    },
  );
  const held = await Promise.all([rawClient(port), rawClient(port), rawClient(port)]);
  for (const { socket } of held) socket.write("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await eventually(
    () => under.length === 3,
    () => JSON.stringify(listener.counts),
  );
  const dropped = await rawClient(port);
  expect(await dropped.closed).toBe("");
  under[0]!.end();
  await eventually(
    () => held.some(({ received }) => received() !== ""),
    () => "never answered",
  );
  expect((await http1Request(url, { agent: false })).body).toBe("hello");
  expect(held.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
});

/** Lets a limit under test run out where nothing must happen: there is no event to wait for. */
function timePasses(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
