import { once } from "node:events";
import type { ServerResponse } from "node:http";
import net from "node:net";
import tls from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { clientCertificate } from "../../src/server/client-certificate.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import { createListener } from "../../src/server/listener.ts";
import { isEncrypted } from "../../src/server/peer.ts";
import { PREFACE } from "../../src/server/port.ts";
import { authority, daysFromNow } from "../support/certificates.ts";
import { patient } from "../support/patient-limits.ts";
import { END_HEADERS, END_STREAM, FRAME, framesOf, requestHeaders, settings } from "../support/server-frames.ts";
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
import { http2ConnectTls, httpsRequest, serveTls, testTrust, tlsClient } from "../support/server-tls.ts";

const soon = 100;
/** For a limit before which something else has to happen. */
const later = 1_000;
const hello: RequestHandler = (req, res) => void res.end(`${req.httpVersion} ${isEncrypted(req)}`);
const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

describe("what is spoken", () => {
  test.each([
    { offer: ["h2", "http/1.1"], speaks: "h2" },
    { offer: ["http/1.1", "h2"], speaks: "h2" },
    { offer: ["h2"], speaks: "h2" },
    { offer: ["http/1.1"], speaks: "http/1.1" },
    { offer: ["http/1.0", "http/1.1"], speaks: "http/1.1" },
    { offer: ["http/1.0"], speaks: "http/1.0" },
    { offer: undefined, speaks: false },
  ])("of $offer: $speaks", async ({ offer, speaks }) => {
    const { port } = await serveTls(hello);
    const { socket, received } = await tlsClient(port, offer && { ALPNProtocols: offer });
    expect(socket.alpnProtocol).toBe(speaks);
    if (speaks === "h2") {
      socket.write(Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
      const data = () =>
        framesOf(received())
          .find(({ type }) => type === FRAME.DATA)
          ?.payload.toString();
      await eventually(() => data() === "2.0 true", received);
    } else {
      socket.write(GET);
      await eventually(() => received().endsWith("1.1 true"), received);
    }
  });

  test("a client that offers only what is not spoken is refused", async () => {
    const { port, listener } = await serveTls(hello);
    await expect(tlsClient(port, { ALPNProtocols: ["spdy/3"] })).rejects.toThrow(/no application protocol/i);
    await emptied(listener);
  });

  test("HTTP/1.1 and HTTP/2 at the same time, at the address that comes back", async () => {
    const { url, listener } = await serveTls(hello);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const session = await http2ConnectTls(url);
    const answers = await Promise.all([httpsRequest(url), http2Request(session, { ":path": "/" })]);
    expect(answers.map(({ body }) => body)).toEqual(["1.1 true", "2.0 true"]);
    expect(listener.counts).toMatchObject({ sessions: 1 });
  });

  test("the preface without ALPN is no HTTP/2", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { headersTimeoutMs: 50, sweepIntervalMs: 20 } });
    const { socket, closed } = await tlsClient(port);
    socket.write(Buffer.concat([PREFACE, settings()]));
    expect(await closed).toMatch(/^HTTP\/1\.1 400 /);
    await emptied(listener);
  });

  test("a cleartext port is not encrypted", async () => {
    const { url } = await serve(hello);
    expect((await http1Request(url)).body).toBe("1.1 false");
    expect((await http2Request(await http2Connect(url), { ":path": "/" })).body).toBe("2.0 false");
  });
});

describe("how it is spoken", () => {
  test.each([
    { minVersion: undefined, client: "TLSv1.1", spoken: undefined },
    { minVersion: undefined, client: "TLSv1.2", spoken: "TLSv1.2" },
    { minVersion: undefined, client: "TLSv1.3", spoken: "TLSv1.3" },
    { minVersion: "TLSv1.3", client: "TLSv1.2", spoken: undefined },
    { minVersion: "TLSv1.3", client: "TLSv1.3", spoken: "TLSv1.3" },
  ] as const)("from $minVersion on, to a client of $client: $spoken", async ({ minVersion, client, spoken }) => {
    const { port } = await serveTls(hello, { minVersion });
    const connected = tlsClient(port, {
      minVersion: client,
      maxVersion: client,
      ciphers: client === "TLSv1.1" ? "DEFAULT@SECLEVEL=0" : undefined,
    });
    if (spoken === undefined) await expect(connected).rejects.toThrow(/version/);
    else expect((await connected).socket.getProtocol()).toBe(spoken);
  });

  test.each(["ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "AES128-GCM-SHA256", "NULL-SHA256"])(
    "not with the cipher %s",
    async (ciphers) => {
      const { port } = await serveTls(hello);
      await expect(tlsClient(port, { maxVersion: "TLSv1.2", ciphers: `${ciphers}:@SECLEVEL=0` })).rejects.toThrow(
        /handshake failure/,
      );
    },
  );

  test("not a second handshake on a connection", async () => {
    const { port } = await serveTls(hello);
    const { socket, received } = await tlsClient(port, { maxVersion: "TLSv1.2" });
    const refused = await new Promise<Error | null>((resolve) => {
      socket.on("error", resolve);
      socket.renegotiate({ rejectUnauthorized: false }, resolve);
      socket.resume();
    });
    expect(String(refused)).toMatch(/no renegotiation/);
    expect(received()).toBe("");
  });
});

describe("a request that forgot TLS", () => {
  test.each([
    { name: "HTTP/1.1", request: GET },
    { name: "a preface of HTTP/2", request: PREFACE },
  ])("$name is told so", async ({ request }) => {
    const { port, listener } = await serveTls(hello);
    const client = await rawClient(port);
    client.socket.end(request);
    const answer = await client.closed;
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\n\r\nThis port speaks TLS: use https instead of http\.\n$/);
    await emptied(listener);
  });

  test("whole, to a client that reads it", async () => {
    const { url } = await serveTls(hello);
    expect(await http1Request(url.replace("https", "http"))).toMatchObject({
      status: 400,
      headers: { connection: "close" },
      body: "This port speaks TLS: use https instead of http.\n",
    });
  });

  test("cannot stay", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, protocolTimeoutMs: soon } });
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.write(GET);
    socket.resume().on("error", () => {});
    await once(socket, "end");
    await emptied(listener);
  });

  test.each([Buffer.from([0, 1, 2]), Buffer.from([0x80, 0x2e, 1]), Buffer.from([21, 3, 1])])(
    "what is neither (%j) is closed without a word",
    async (bytes) => {
      const { port, listener } = await serveTls(hello, {}, { limits: patient });
      const client = await rawClient(port);
      client.socket.write(bytes);
      expect(await client.closed).toBe("");
      await emptied(listener);
    },
  );
});

describe("the limits on time", () => {
  const clientHello = () => helloBytes();

  test("silence before a handshake", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, protocolTimeoutMs: soon } });
    const client = await rawClient(port);
    expect(await client.closed).toBe("");
    await emptied(listener);
  });

  test.each([1, 5, 50])("a handshake that stops after %d bytes", async (length) => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, handshakeTimeoutMs: soon } });
    const client = await rawClient(port);
    client.socket.write((await clientHello()).subarray(0, length));
    await eventually(
      () => listener.counts.connections === 1 || client.socket.closed,
      () => "never connected",
    );
    await client.closed;
    await emptied(listener);
  });

  test("a handshake that stops after the answer to it", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, handshakeTimeoutMs: later } });
    const client = await rawClient(port);
    client.socket.write(await clientHello());
    await eventually(() => client.received().length > 0, client.received);
    await client.closed;
    await emptied(listener);
  });

  test("a handshake and nothing behind it", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, protocolTimeoutMs: later } });
    const { closed } = await tlsClient(port);
    expect(await closed).toBe("");
    await emptied(listener);
  });

  test("headers that never end: 408", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, headersTimeoutMs: soon } });
    const { socket, closed } = await tlsClient(port);
    socket.write("GET / HTTP/1.1\r\nHost: local");
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    await emptied(listener);
  });

  test("a body that never comes: 408", async () => {
    const handler: RequestHandler = (req, res) => req.resume().on("end", () => res.end());
    const { port, listener } = await serveTls(handler, {}, { limits: { ...patient, requestTimeoutMs: soon } });
    const { socket, closed } = await tlsClient(port);
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123");
    expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    await emptied(listener);
  });

  test("a connection kept alive without a request", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: { ...patient, keepAliveTimeoutMs: soon } });
    const { socket, closed } = await tlsClient(port);
    socket.write(GET);
    expect(await closed).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*1\.1 true$/);
    await emptied(listener);
  });

  test("an HTTP/2 connection without a stream", async () => {
    const { url, listener } = await serveTls(hello, {}, { limits: { ...patient, idleSessionTimeoutMs: later } });
    const session = await http2ConnectTls(url);
    expect((await http2Request(session, { ":path": "/" })).body).toBe("2.0 true");
    if (!session.closed) await closeOf(session);
    await emptied(listener);
  });

  test("a peer of HTTP/2 without a sign of life", async () => {
    const limits = { ...patient, pingIntervalMs: later, pingTimeoutMs: soon };
    const { port, listener } = await serveTls(() => {}, {}, { limits });
    const { socket, closed, received } = await tlsClient(port, { ALPNProtocols: ["h2"] });
    socket.write(Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]));
    await eventually(
      () => listener.counts.streams === 1,
      () => "never asked",
    );
    await closed;
    await emptied(listener);
    expect(framesOf(received()).map(({ type }) => type)).toContain(FRAME.PING);
  });

  test("but not a peer of HTTP/2 with one", async () => {
    let finish = () => {};
    const handler: RequestHandler = (_, res) => {
      (res as ServerResponse).write("first");
      finish = () => void res.end(" last");
    };
    let pings = 0;
    const limits = { ...patient, pingIntervalMs: soon / 2, pingTimeoutMs: 10 * later, idleSessionTimeoutMs: later };
    const { url } = await serveTls(handler, {}, { limits });
    const session = await http2ConnectTls(url);
    session.on("ping", () => pings++);
    const answer = http2Request(session, { ":path": "/" });
    await eventually(
      () => pings > 25,
      () => `${pings} pings`,
    );
    finish();
    expect((await answer).body).toBe("first last");
  });

  test.each([undefined, ["h2"]])("an answer that nobody reads (ALPN: %j)", async (ALPNProtocols) => {
    const handler: RequestHandler = (_, res) => void res.end(Buffer.alloc(50_000_000));
    const limits = { ...patient, stalledWriteTimeoutMs: soon, pingIntervalMs: soon, pingTimeoutMs: soon };
    const { port, listener } = await serveTls(handler, {}, { limits });
    const { socket } = await tlsClient(port, { read: false, ALPNProtocols });
    socket.pause();
    socket.write(
      ALPNProtocols === undefined
        ? GET
        : Buffer.concat([PREFACE, settings(2 ** 20), requestHeaders(1, {}, END_HEADERS | END_STREAM)]),
    );
    await emptied(listener);
  });

  test("a connection in a handshake is counted, and gives way to a further one", async () => {
    const { port, listener, url } = await serveTls(hello, {}, { limits: { ...patient, maxConnections: 2 } });
    const half = await rawClient(port);
    half.socket.write((await clientHello()).subarray(0, 20));
    const silent = await tlsClient(port);
    await eventually(
      () => listener.counts.connections === 2,
      () => JSON.stringify(listener.counts),
    );
    expect((await httpsRequest(url, { agent: false })).body).toBe("1.1 true");
    expect(await half.closed).toBe("");
    expect(silent.socket.destroyed).toBe(false);
  });
});

describe("certificates of clients", () => {
  const say: RequestHandler = (req, res) => void res.end(JSON.stringify(clientCertificate(req) ?? null));
  const names = [
    { type: "dns", value: "orders.internal" },
    { type: "url", value: "spiffe://example.org/a,b" },
  ] as const;

  async function clients() {
    const { authority: root } = await testTrust();
    const stranger = await authority("Another authority");
    const impostor = await authority();
    return {
      known: await root.issue("client", { commonName: "orders", names }),
      nameless: await root.issue("client", { commonName: "" }),
      expired: await root.issue("client", { validTo: daysFromNow(-1) }),
      early: await root.issue("client", { validFrom: daysFromNow(1) }),
      server: await root.issue("server"),
      stranger: await stranger.issue("client"),
      impostor: await impostor.issue("client"),
      none: {},
    };
  }

  test.each([
    { asks: "request", who: "known", cn: "orders", knows: ["DNS:orders.internal", "URI:spiffe://example.org/a,b"] },
    { asks: "request", who: "nameless", cn: "", knows: [] },
    { asks: "request", who: "expired", knows: null },
    { asks: "request", who: "early", knows: null },
    { asks: "request", who: "server", knows: null },
    { asks: "request", who: "stranger", knows: null },
    { asks: "request", who: "none", knows: null },
    { asks: "require", who: "known", cn: "orders", knows: ["DNS:orders.internal", "URI:spiffe://example.org/a,b"] },
    { asks: "require", who: "expired" },
    { asks: "require", who: "early" },
    { asks: "require", who: "server" },
    { asks: "require", who: "stranger" },
    { asks: "require", who: "impostor" },
    { asks: "require", who: "none" },
    { asks: "none", who: "known", knows: null },
    { asks: "none", who: "none", knows: null },
  ] as const)("$asks, $who", async ({ asks, who, ...expected }) => {
    const { authority: root } = await testTrust();
    const pair = (await clients())[who];
    const { url, listener } = await serveTls(say, { ca: root.ca, clientCertificate: asks });
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const over1 = () => httpsRequest(url, { ...pair, maxVersion, agent: false });
      const over2 = async () => http2Request(await http2ConnectTls(url, { ...pair, maxVersion }), { ":path": "/" });
      for (const ask of [over1, over2]) {
        if (!("knows" in expected)) {
          await expect(ask()).rejects.toThrow();
          continue;
        }
        const { body } = await ask();
        const certificate = JSON.parse(body);
        if (expected.knows === null) expect(certificate).toBeNull();
        else {
          const fingerprint256 = new (await import("node:crypto")).X509Certificate((pair as { cert: string }).cert)
            .fingerprint256;
          expect(certificate).toEqual({
            commonName: "cn" in expected ? expected.cn : "",
            alternativeNames: expected.knows,
            fingerprint256: fingerprint256.replaceAll(":", "").toLowerCase(),
          });
        }
      }
    }
    await listener.drain();
    await emptied(listener);
  });

  test.each([
    { name: "HTTP/1.1", ALPNProtocols: undefined },
    { name: "HTTP/2", ALPNProtocols: ["h2"] },
  ])("one that ends while its connection stands counts no more, over $name", async ({ ALPNProtocols }) => {
    const { authority: root } = await testTrust();
    const { known } = await clients();
    const { port, url } = await serveTls(say, { ca: root.ca, clientCertificate: "request" });
    const session = ALPNProtocols && (await http2ConnectTls(url, known));
    const kept = await tlsClient(port, known);
    const ask = async () => {
      if (session !== undefined) return (await http2Request(session, { ":path": "/" })).body;
      const before = kept.received().length;
      kept.socket.write(GET);
      const answer = () => /\r\n\r\n(.+)$/.exec(kept.received().slice(before))?.[1];
      await eventually(() => answer() !== undefined, kept.received);
      return answer();
    };
    expect(await ask()).toMatch(/orders/);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"], now: daysFromNow(40) });
    expect(await ask()).toBe("null");
  });

  test("no session goes on without its certificate being verified again", async () => {
    const { authority: root } = await testTrust();
    const { known } = await clients();
    const { port } = await serveTls(say, { ca: root.ca, clientCertificate: "require" });
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      let session: Buffer | undefined;
      for (let round = 0; round < 2; round++) {
        const { socket, received } = await tlsClient(port, { ...known, maxVersion, ...(session && { session }) });
        socket.on("session", (offered) => {
          session = offered;
        });
        socket.write(GET);
        await eventually(() => received().includes("orders"), received);
        expect(socket.isSessionReused()).toBe(false);
        session ??= socket.getSession();
        socket.destroy();
      }
    }
  });

  test("where certificates are required, others than this machine may connect", async () => {
    const { authority: root, server } = await testTrust();
    const listener = createListener(say);
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    const refused = { reason: "HOST_NOT_LOOPBACK" };
    for (const tlsOptions of [server, { ...server, ca: root.ca, clientCertificate: "request" as const }]) {
      await expect(listener.listen({ port: 0, host: "0.0.0.0", tls: tlsOptions })).rejects.toMatchObject(refused);
    }
    const tlsOptions = { ...server, ca: root.ca, clientCertificate: "require" } as const;
    const { url } = await listener.listen({ port: 0, host: "0.0.0.0", tls: tlsOptions });
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await expect(httpsRequest(url, { agent: false })).rejects.toThrow();
    expect((await httpsRequest(url, { ...(await clients()).known, agent: false })).status).toBe(200);
  });
});

describe("the life of a listener with TLS", () => {
  test("ended while its certificate is read, it never listens", async () => {
    const { server } = await testTrust();
    const listener = createListener(hello);
    const listening = listener.listen({ port: 0, tls: server });
    await Promise.all([expect(listening).rejects.toMatchObject({ reason: "LISTENER_CLOSED" }), listener.drain()]);
  });

  test("after a failure another address can be tried, with TLS or without", async () => {
    const { server } = await testTrust();
    const taken = await serveTls(hello);
    const listener = createListener(hello);
    onTestFinished(() => listener.drain({ deadlineMs: 0 }));
    await expect(listener.listen({ port: taken.port, tls: server })).rejects.toMatchObject({
      reason: "ADDRESS_IN_USE",
    });
    const { url } = await listener.listen({ port: 0 });
    expect((await http1Request(url, { agent: false })).body).toBe("1.1 false");
  });
});

describe("hostile handshakes", () => {
  test("of any kind end nothing but themselves", async () => {
    const reports: unknown[] = [];
    const { port, url, listener } = await serveTls(
      hello,
      {},
      {
        limits: { ...patient, handshakeTimeoutMs: 200, protocolTimeoutMs: 200, headersTimeoutMs: 200 },
        onError: (error) => reports.push(error),
      },
    );
    const bytes = await helloBytes();
    const inputs = Array.from({ length: 600 }, (_, index) => {
      const input = Buffer.from(bytes);
      // Cut off, and with bytes turned over: lengths, versions, extensions, the name of the server.
      for (let at = 1 + (index % 7); at < input.length; at += 1 + ((index * 31) % 97)) input[at]! ^= 1 << (index % 8);
      return index % 3 === 0 ? input : input.subarray(0, 1 + ((index * 17) % input.length));
    });
    for (let at = 0; at < inputs.length; at += 50) {
      await Promise.all(
        inputs.slice(at, at + 50).map(async (input, index) => {
          const client = await rawClient(port);
          client.socket.write(input);
          if (index % 4 === 0) client.socket.end();
          if (index % 4 === 1) setTimeout(() => client.socket.resetAndDestroy(), index);
          await client.closed;
        }),
      );
    }
    await emptied(listener);
    expect(reports).toEqual([]);
    // The limits are so short that an honest handshake may need several attempts where much else is going on.
    let answer: string | undefined;
    for (let attempt = 0; answer === undefined && attempt < 50; attempt++) {
      answer = await httpsRequest(url, { agent: false }).then(
        ({ body }) => body,
        () => undefined,
      );
    }
    expect(answer).toBe("1.1 true");
  });

  test.each(["a".repeat(255), "\u0000", "xn--", "..", "*", "localhost\u0000.example.test"])(
    "a name of the server that is none (%j) is served the one certificate",
    async (servername) => {
      const { port, listener } = await serveTls(hello);
      const client = await tlsClient(port, { servername, checkServerIdentity: () => undefined }).catch(() => undefined);
      client?.socket.destroy();
      await emptied(listener);
    },
  );

  test("a reset at any moment of the handshake leaves nothing", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: patient });
    const bytes = await helloBytes();
    for (let round = 0; round < 40; round++) {
      const client = await rawClient(port);
      client.socket.write(bytes);
      if (round % 2 === 0) await eventually(() => client.received().length > 0, client.received);
      client.socket.resetAndDestroy();
    }
    await emptied(listener);
  });

  test("junk behind the handshake ends the connection alone", async () => {
    const { port, listener } = await serveTls(hello, {}, { limits: patient });
    const raw = net.connect({ port, host: "127.0.0.1" });
    const { ca } = (await testTrust()).authority;
    const client = tls.connect({ socket: raw, ca, servername: "localhost" });
    client.on("error", () => {});
    raw.on("error", () => {});
    await once(client, "secureConnect");
    const closed = closeOf(raw);
    raw.write(Buffer.alloc(100, 23));
    raw.resume();
    await closed;
    await emptied(listener);
  });
});

/** The first bytes of an honest client. */
async function helloBytes(): Promise<Buffer> {
  const server = net.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = tls.connect({
    port: (server.address() as net.AddressInfo).port,
    host: "127.0.0.1",
    servername: "localhost",
  });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [net.Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}
