import { once } from "node:events";
import http from "node:http";
import { type ClientHttp2Session, constants } from "node:http2";
import https from "node:https";
import net from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createListener } from "../../src/server/listener.ts";
import { PREFACE } from "../../src/server/port.ts";
import { END_HEADERS, END_STREAM, FRAME, frame, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
import {
  type Answer,
  closeOf,
  emptied,
  eventually,
  http1Request,
  http2Connect,
  http2Request,
  rawClient,
  serve,
} from "../support/server-harness.ts";
import { http2ConnectTls, httpsRequest, serveTls, tlsClient } from "../support/server-tls.ts";

/** A handler that keeps every answer until the test lets it go. */
function holding() {
  const held: (() => void)[] = [];
  return {
    held,
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
    handler: (_: unknown, res: { end(): unknown }) => void held.push(() => res.end()),
  };
}

test.each([200, 204])(
  "a client that never pauses learns from an answer of %i that its connection ends",
  async (status) => {
    const { url, listener } = await serve((_, res) => {
      res.statusCode = status;
      if (status === 200) res.end("body");
      else res.end();
    });
    const session = await http2Connect(url);
    const isTold = once(session, "goaway");
    let isOver = false;
    const load = (async () => {
      while (!isOver) {
        try {
          await http2Request(session, { ":path": "/" });
        } catch {
          isOver = true;
        }
      }
    })();
    await turn();
    const drained = listener.drain();
    await isTold;
    await Promise.all([load, drained]);
  },
);

test("under load no accepted request loses its answer, over either protocol", async () => {
  const accepted = new Set<string>();
  const answered = new Set<string>();
  const body = (path: string) => `${path};`.repeat(2_000);
  const { url, listener } = await serve((req, res) => {
    accepted.add(req.url!);
    // Some at once, some a few turns later, as real answers are.
    const answer = () => res.end(body(req.url!));
    if (accepted.size % 3 === 0) answer();
    else setTimeout(answer, accepted.size % 20);
  });

  const failures: string[] = [];
  const paths = counter();
  const load = [
    ...clients(10, () => overHttp1(new http.Agent({ keepAlive: true, maxSockets: 4 }))),
    ...clients(10, () => overHttp1(new http.Agent({ keepAlive: false }))),
    ...clients(10, async () => overHttp2(await http2Connect(url))),
  ];
  await eventually(
    () => answered.size > 500,
    () => `${answered.size} answers`,
  );
  await listener.drain();
  const atEnd = answered.size;
  await Promise.all(load);

  expect(answered.size).toBeGreaterThan(500);
  expect([...accepted].filter((path) => !answered.has(path))).toEqual([]);
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.filter((path) => accepted.has(path))).toEqual([]);
  expect(answered.size - atEnd).toBeLessThan(200);
  await emptied(listener);

  /** Four requests at a time, one after the other, until the server takes no more. */
  function clients(count: number, client: () => Ask | Promise<Ask>): Promise<void>[] {
    return Array.from({ length: count }, async () => {
      const ask = await client();
      await Promise.all(Array.from({ length: 4 }, () => askUntilRefused(ask)));
    });
  }

  async function askUntilRefused(ask: Ask): Promise<void> {
    for (let refusals = 0; refusals < 3; ) {
      const path = `/${paths()}`;
      try {
        const answer = await ask(path);
        expect(answer.body).toBe(body(path));
        answered.add(path);
      } catch (error) {
        if ((error as Error).name === "AssertionError") throw error;
        failures.push(path);
        refusals++;
      }
    }
  }

  type Ask = (path: string) => Promise<Answer>;

  function overHttp1(agent: http.Agent): Ask {
    onTestFinished(() => agent.destroy());
    return (path) => http1Request(url + path, { agent });
  }

  function overHttp2(session: ClientHttp2Session): Ask {
    return async (path) => {
      await turn();
      return http2Request(session, { ":path": path });
    };
  }
});

describe("what is under way is completed", () => {
  test("over HTTP/1.1, with the word that the connection closes", async () => {
    const { held, release, handler } = holding();
    const { url, listener } = await serve(handler);
    const agent = new http.Agent({ keepAlive: true });
    const answer = http1Request(url, { agent });
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    const drained = listener.drain();
    release();
    expect(await answer).toMatchObject({ status: 200, headers: { connection: "close" } });
    await drained;
    await emptied(listener);
  });

  test("over HTTP/2, while further streams are refused, whatever their client does with them", async () => {
    const { held, release, handler } = holding();
    const { port, listener } = await serve(handler);
    const client = await rawClient(port);
    client.socket.write(Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    const drained = listener.drain({ deadlineMs: Number.POSITIVE_INFINITY });
    client.socket.write(requestHeaders(3, {}, END_HEADERS | END_STREAM));
    client.socket.write(frame(FRAME.RST_STREAM, 0, 3, Buffer.from([0, 0, 0, 8])));
    client.socket.write(requestHeaders(5, {}, END_HEADERS | END_STREAM));
    const resets = () => framesOf(client.received()).filter(({ type }) => type === FRAME.RST_STREAM);
    await eventually(() => resets().some(({ streamId }) => streamId === 5), client.received);
    for (const { payload } of resets()) expect(payload.readUInt32BE()).toBe(constants.NGHTTP2_REFUSED_STREAM);
    release();
    const frames = framesOf(await client.closed);
    expect(frames.filter(({ type }) => type === FRAME.HEADERS).map(({ streamId }) => streamId)).toEqual([1]);
    expect(frames.findLast(({ type }) => type === FRAME.GOAWAY)!.payload.readUInt32BE(4)).toBe(
      constants.NGHTTP2_NO_ERROR,
    );
    expect(held).toEqual([]);
    await drained;
  });

  test("a request on a known connection while clients are being told", async () => {
    const { url, port, listener } = await serve((_, res) => void res.end("late"), { limits: { drainGraceMs: 60_000 } });
    const client = await rawClient(port);
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await eventually(() => client.received().endsWith("late"), client.received);
    const drained = listener.drain();
    await expect(http1Request(url, { agent: false })).rejects.toThrow("ECONNREFUSED");
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // The answer says that it is the last, and with it the only connection is gone and the grace is over.
    expect((await client.closed).match(/Connection: .*/g)).toEqual(["Connection: keep-alive", "Connection: close"]);
    await drained;
  });
});

describe("what is not under way ends", () => {
  test("idle connections of either protocol, and those that never said what they are", async () => {
    const { url, port, listener } = await serve((_, res) => void res.end(), { limits: { protocolTimeoutMs: 600_000 } });
    const session = await http2Connect(url);
    const agent = new http.Agent({ keepAlive: true });
    await http1Request(url, { agent });
    const [silent, partial] = await Promise.all([rawClient(port), rawClient(port)]);
    partial.socket.write("PRI * HT");
    await eventually(
      () => listener.counts.connections === 4,
      () => JSON.stringify(listener.counts),
    );
    await listener.drain({ deadlineMs: 600_000 });
    await Promise.all([silent.closed, partial.closed, session.closed || closeOf(session)]);
    await emptied(listener);
  });

  test("a connection that shows itself as HTTP/2 only then", async () => {
    let asked = 0;
    const { port, listener } = await serve((_, res) => {
      asked++;
      res.end();
    });
    const client = await rawClient(port);
    client.socket.write(PREFACE.subarray(0, 23));
    await eventually(
      () => listener.counts.connections === 1,
      () => "never connected",
    );
    const drained = listener.drain({ deadlineMs: Number.POSITIVE_INFINITY });
    client.socket.write(PREFACE.subarray(23));
    client.socket.write(Buffer.concat([settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
    const goaway = framesOf(await client.closed).find(({ type }) => type === FRAME.GOAWAY);
    expect(goaway!.payload.readUInt32BE()).toBe(0);
    await drained;
    expect(asked).toBe(0);
  });

  test("endless answers, told when nobody can connect any more, and again for those that began later", async () => {
    const open = new Set<() => void>();
    const { url, port, listener } = await serve((_, res) => {
      (res as http.ServerResponse).write("news;");
      open.add(() => res.end("bye"));
    });
    const watch = http2Request(await http2Connect(url), { ":path": "/" });
    const late = await rawClient(port);
    await eventually(
      () => open.size === 1 && listener.counts.connections === 2,
      () => "never asked",
    );
    const refusals: Promise<string>[] = [];
    await listener.drain({
      deadlineMs: 600_000,
      endStreams: () => {
        refusals.push(http1Request(url, { agent: false }).then(String, (error) => error.code));
        if (refusals.length === 1) late.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        for (const end of open) end();
        open.clear();
      },
    });
    expect((await watch).body).toBe("news;bye");
    expect(await late.closed).toMatch(/news;[\s\S]*bye[\s\S]*0\r\n\r\n$/);
    expect(new Set(await Promise.all(refusals))).toEqual(new Set(["ECONNREFUSED"]));
  });
});

describe("the deadline", () => {
  test.each([
    { name: "HTTP/1.1", ask: (url: string) => http1Request(url) },
    { name: "HTTP/2", ask: async (url: string) => http2Request(await http2Connect(url), { ":path": "/" }) },
  ])("cuts off an answer that does not come, over $name", async ({ ask }) => {
    const { held, handler } = holding();
    const { url, listener } = await serve(handler);
    const answer = ask(url).then(String, () => "cut off");
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    await listener.drain({ deadlineMs: 200 });
    expect(await answer).toBe("cut off");
    await emptied(listener);
  });

  test("cuts off a client that takes nothing", async () => {
    const { url, port, listener } = await serve((_, res) => void res.end(Buffer.alloc(50_000_000)));
    const session = await http2Connect(url);
    session.setLocalWindowSize(2 ** 30);
    session.request({ ":path": "/" }).on("error", () => {});
    const client = await rawClient(port, { read: false });
    client.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await eventually(
      () => listener.counts.connections === 2 && listener.counts.streams === 1,
      () => JSON.stringify(listener.counts),
    );
    await listener.drain({ deadlineMs: 200 });
    await emptied(listener);
  });

  test("the earliest of several counts, and all wait for the same end", async () => {
    const { held, handler } = holding();
    const { url, listener } = await serve(handler);
    const answer = http1Request(url).then(String, () => "cut off");
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    await Promise.all([
      listener.drain({ deadlineMs: 600_000 }),
      listener.drain({ deadlineMs: 0 }),
      listener.drain({ deadlineMs: 600_000 }),
    ]);
    expect(await answer).toBe("cut off");
    await listener.drain();
  });
});

describe("nothing that throws keeps it from its end", () => {
  test.each([
    { name: "endStreams", endStreams: fail, onError: () => {} },
    { name: "endStreams and onError", endStreams: fail, onError: fail },
  ])("$name", async ({ endStreams, onError }) => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const { held, release, handler } = holding();
    const reports: string[] = [];
    const { url, listener } = await serve(handler, {
      onError: (error, context) => {
        reports.push(`${context}: ${(error as Error).message}`);
        onError();
      },
    });
    const session = await http2Connect(url);
    const finished = Promise.all([http1Request(url), http2Request(session, { ":path": "/" })]);
    await eventually(
      () => held.length === 2,
      () => "never asked",
    );
    const drained = listener.drain({ deadlineMs: 600_000, endStreams });
    release();
    expect((await finished).map(({ status }) => status)).toEqual([200, 200]);
    await drained;
    await emptied(listener);
    expect(new Set(reports)).toEqual(new Set(["draining: ending streams: broken"]));
  });

  test("nor from its deadline", async () => {
    const { held, handler } = holding();
    const { url, listener } = await serve(handler, { onError: () => {} });
    const answer = http1Request(url).then(String, () => "cut off");
    await eventually(
      () => held.length === 1,
      () => "never asked",
    );
    await listener.drain({ deadlineMs: 200, endStreams: fail });
    expect(await answer).toBe("cut off");
  });

  test("a handler that throws while onError does", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const { url } = await serve(fail, { onError: fail });
    expect(await http1Request(url, { agent: false })).toMatchObject({ status: 500 });
    expect(printed.mock.calls.map(([line]) => line)).toEqual([
      "connect-actuator: answering a GET request: Error: broken",
      "connect-actuator: onError: Error: broken",
    ]);
  });

  function fail(): never {
    throw new Error("broken");
  }
});

describe("over TLS", () => {
  test("completes what is under way, over either protocol", async () => {
    const { held, release, handler } = holding();
    const { url, port, listener } = await serveTls(handler);
    const session = await http2ConnectTls(url);
    const answers = Promise.all([httpsRequest(url), http2Request(session, { ":path": "/" })]);
    const idle = await tlsClient(port);
    await eventually(
      () => held.length === 2,
      () => "never asked",
    );
    const drained = listener.drain({ deadlineMs: 600_000 });
    await expect(httpsRequest(url, { agent: false })).rejects.toThrow("ECONNREFUSED");
    await idle.closed;
    release();
    const [one, two] = await answers;
    expect(one).toMatchObject({ status: 200, headers: { connection: "close" } });
    expect(two.status).toBe(200);
    await drained;
    await emptied(listener);
  });

  test("ends what is idle, in a handshake, or never said anything", async () => {
    const limits = { protocolTimeoutMs: 600_000, handshakeTimeoutMs: 600_000, headersTimeoutMs: 600_000 };
    const { url, port, listener } = await serveTls((_, res) => void res.end(), {}, { limits });
    const session = await http2ConnectTls(url);
    await httpsRequest(url, { agent: new https.Agent({ keepAlive: true }) });
    const silent = await rawClient(port);
    const half = await rawClient(port);
    half.socket.write(Buffer.from([22, 3, 1, 2, 0, 1]));
    const mute = await tlsClient(port);
    await eventually(
      () => listener.counts.connections === 5,
      () => JSON.stringify(listener.counts),
    );
    await listener.drain({ deadlineMs: 600_000 });
    await Promise.all([silent.closed, half.closed, mute.closed, session.closed || closeOf(session)]);
    await emptied(listener);
  });

  test("serves who was in a handshake and asks within the grace", async () => {
    const { port, listener } = await serveTls(
      (_, res) => void res.end("late"),
      {},
      { limits: { drainGraceMs: 60_000 } },
    );
    const relay = await heldBack(port);
    const asking = tlsClient(relay.port);
    await eventually(
      () => relay.bytes() > 0 && listener.counts.connections === 1,
      () => `${relay.bytes()}`,
    );
    const drained = listener.drain();
    relay.release();
    const { socket, closed } = await asking;
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect(await closed).toMatch(/Connection: close[\s\S]*late$/);
    await drained;
  });

  test("the deadline cuts off answers and handshakes", async () => {
    const { held, handler } = holding();
    const { url, port, listener } = await serveTls(handler, {}, { limits: { drainGraceMs: 600_000 } });
    const session = await http2ConnectTls(url);
    const answers = [httpsRequest(url), http2Request(session, { ":path": "/" })].map((answer) =>
      answer.then(String, () => "cut off"),
    );
    const half = await rawClient(port);
    half.socket.write(Buffer.from([22, 3, 1, 2, 0, 1]));
    await eventually(
      () => held.length === 2 && listener.counts.connections === 3,
      () => JSON.stringify(listener.counts),
    );
    await listener.drain({ deadlineMs: 200 });
    expect(await Promise.all(answers)).toEqual(["cut off", "cut off"]);
    await half.closed;
    await emptied(listener);
  });

  /** A way to a port on which the client's bytes wait, but for the first, until they are let go. */
  async function heldBack(port: number) {
    let release = () => {};
    let bytes = 0;
    const relay = net.createServer((client) => {
      const server = net.connect(port, "127.0.0.1");
      for (const socket of [client, server]) socket.on("error", () => {});
      client.once("data", (hello) => {
        bytes = hello.length;
        server.write(hello.subarray(0, 10));
        client.pause();
        release = () => {
          server.write(hello.subarray(10));
          client.pipe(server);
          server.pipe(client);
        };
      });
    });
    onTestFinished(() => void relay.close());
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    return { port: (relay.address() as net.AddressInfo).port, bytes: () => bytes, release: () => release() };
  }
});

describe("the life of a listener", () => {
  test("one that never listened ends too", async () => {
    await createListener(() => {}).drain();
  });

  test("it does not listen twice, nor after its end", async () => {
    const { listener } = await serve(() => {});
    await expect(listener.listen({ port: 0 })).rejects.toMatchObject({ reason: "ALREADY_LISTENING" });
    const other = createListener(() => {});
    onTestFinished(() => other.drain({ deadlineMs: 0 }));
    const first = other.listen({ port: 0, host: "localhost" });
    await expect(other.listen({ port: 0, host: "localhost" })).rejects.toMatchObject({ reason: "ALREADY_LISTENING" });
    await first;
    await listener.drain();
    await expect(listener.listen({ port: 0 })).rejects.toMatchObject({ reason: "LISTENER_CLOSED" });
  });

  test("ended while its name is looked up, it never listens", async () => {
    const listener = createListener(() => {});
    const listening = listener.listen({ port: 0, host: "localhost" });
    await Promise.all([expect(listening).rejects.toMatchObject({ reason: "LISTENER_CLOSED" }), listener.drain()]);
  });

  test("its port is free again", async () => {
    const { listener, port } = await serve(() => {});
    await listener.drain();
    const server = net.createServer();
    onTestFinished(() => void server.close());
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  });
});

function counter(): () => number {
  let count = 0;
  return () => ++count;
}

describe("a drain with a delay", () => {
  test("answers new connections as before until it is over", async () => {
    const { url, listener } = await serve((_, res) => void res.end("hello"));
    let streamsEnded = false;
    const endStreams = () => {
      streamsEnded = true;
    };
    const drained = listener.drain({ delayMs: 600_000, endStreams });
    expect((await http1Request(url)).body).toBe("hello");
    expect((await http2Request(await http2Connect(url), { ":path": "/" })).body).toBe("hello");
    expect(streamsEnded).toBe(false);

    await listener.drain({ delayMs: 0 });
    await drained;
    expect(streamsEnded).toBe(true);
    await expect(http1Request(url, { agent: false })).rejects.toThrow("ECONNREFUSED");
  });

  test("begins by itself when the time is up", async () => {
    const { url, listener } = await serve((_, res) => void res.end("hello"), { limits: { drainDelayMs: 20 } });
    await listener.drain();
    await expect(http1Request(url, { agent: false })).rejects.toThrow("ECONNREFUSED");
  });

  test("is cut short by a deadline", async () => {
    const { handler } = holding();
    const { url, listener } = await serve(handler);
    const asked = http1Request(url);
    const drained = listener.drain({ delayMs: 600_000 });
    await listener.drain({ delayMs: 0, deadlineMs: 0 });
    await drained;
    await expect(asked).rejects.toThrow();
  });

  test("waits for nobody where nothing listens", async () => {
    await createListener(() => {}).drain({ delayMs: 600_000 });
  });
});
