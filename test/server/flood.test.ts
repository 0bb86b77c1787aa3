import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createActuator } from "../../src/index.ts";
import type { RequestHandler, ServerAnswer } from "../../src/server/handler.ts";
import type { ListenOptions } from "../../src/server/listen-options.ts";
import { createListener, type Listener } from "../../src/server/listener.ts";
import { PREFACE } from "../../src/server/port.ts";
import { patient } from "../support/patient-limits.ts";
import { END_HEADERS, END_STREAM, requestHeaders, settings } from "../support/server-frames.ts";
import { eventually } from "../support/server-harness.ts";
import { testTrust } from "../support/server-tls.ts";
import { tokensFor } from "../support/tokens.ts";

const MAX = 20;
const limits = { ...patient, maxConnections: MAX };

type Openings = readonly (string | Buffer)[];

/** What somebody may send who wants to stay: nothing, half a request, one that is answered, one of HTTP/2. */
const PLAIN: Openings = [
  "",
  "GET / HTTP/1.1\r\nHost: local",
  "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  Buffer.concat([PREFACE, settings(), requestHeaders(1, {}, END_HEADERS | END_STREAM)]),
];

/** Nothing, or the beginning of a handshake. */
const TLS: Openings = ["", Buffer.from([22, 3, 1])];

/** Keeps five connections open from each of six addresses of this machine, whatever it takes; returns how often one ended. */
async function flood(port: number, openings: Openings): Promise<() => number> {
  let ended = 0;
  let over = false;
  const sockets = new Set<net.Socket>();
  onTestFinished(() => {
    over = true;
    for (const socket of sockets) socket.destroy();
  });
  const open = (localAddress: string, opening: string | Buffer): net.Socket => {
    const socket = net.connect({ port, host: "127.0.0.1", localAddress });
    sockets.add(socket);
    socket.on("error", () => {}).resume();
    socket.once("close", () => {
      ended++;
      sockets.delete(socket);
      // A pause as on the way of a network.
      setTimeout(() => over || open(localAddress, opening), 5);
    });
    socket.write(opening);
    return socket;
  };
  const all = [1, 2, 3, 4, 5, 6].flatMap((host) =>
    Array.from({ length: 5 }, (_, index) => open(`127.0.1.${host}`, openings[index % openings.length]!)),
  );
  await Promise.all(all.map((socket) => once(socket, "connect")));
  return () => ended;
}

/** Resolves to the body of an answer when it is over. */
type Ask = (url: string, path: string, options?: http.RequestOptions) => Promise<string>;

interface Case {
  readonly name: string;
  readonly listen: () => Promise<ListenOptions>;
  readonly openings: Openings;
  readonly ask: Ask;
}

const cases: readonly Case[] = [
  { name: "HTTP/1.1", listen: async () => ({ port: 0 }), openings: PLAIN, ask: overHttp1 },
  { name: "HTTP/2 with prior knowledge", listen: async () => ({ port: 0 }), openings: PLAIN, ask: overHttp2 },
  { name: "HTTP/1.1 over TLS", listen: overTls, openings: TLS, ask: overHttp1 },
  { name: "HTTP/2 over TLS", listen: overTls, openings: TLS, ask: overHttp2 },
];

async function overTls(): Promise<ListenOptions> {
  return { port: 0, tls: (await testTrust()).server };
}

describe("while idle connections of many addresses fill the port", () => {
  test.each(cases)("calls are answered and watches go on ($name)", async ({ listen, openings, ask }) => {
    const watches: ServerAnswer[] = [];
    const handler: RequestHandler = (req, res) => {
      if (req.url === "/watch") watches.push(res);
      else res.end("hello");
    };
    const { url, port } = await serving(handler, await listen());
    const watched = ["127.0.0.1", "127.0.1.1"].map((localAddress) => ask(url, "/watch", { localAddress }));
    await eventually(
      () => watches.length === 2,
      () => "never asked",
    );
    const ended = await flood(port, openings);
    await eventually(
      () => ended() > 100,
      () => String(ended()),
    );
    for (let count = 0; count < 10; count++) expect(await ask(url, "/")).toBe("hello");
    for (const watch of watches) watch.end("the end");
    expect(await Promise.all(watched)).toEqual(["the end", "the end"]);
  });
});

test("a Unix socket that idle connections fill answers calls", async () => {
  const path = join(tmpdir(), `connect-actuator-flood-${process.pid}.sock`);
  const { listener } = await serving((_, res) => void res.end("hello"), { path });
  for (let count = 0; count < MAX + 5; count++) {
    const socket = net.connect(path).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
  }
  await eventually(
    () => listener.counts.connections === MAX,
    () => JSON.stringify(listener.counts),
  );
  const [res] = (await once(http.get({ socketPath: path, agent: false }), "response")) as [http.IncomingMessage];
  expect(res.statusCode).toBe(200);
});

test("what strangers begin holds no place where callers are asked who they are", async () => {
  const { file, tokens } = tokensFor({ operator: { permissions: ["loggers:read"] } });
  const actuator = createActuator({ access: { tokens: file }, audit: false, loggers: {}, limits, onError: () => {} });
  onTestFinished(() => actuator.close({ deadlineMs: 0 }));
  const { url, port } = await actuator.listen({ port: 0 });
  const headers = { authorization: `Bearer ${tokens.operator}`, "content-type": "application/connect+json" };
  const path = "/actuator.v3.LoggersService/WatchLoggers";
  // From where the flood comes, and open for longer.
  const watching = http.request(url + path, { method: "POST", headers, localAddress: "127.0.1.1", agent: false });
  watching.end(BODY);
  const [watched] = (await once(watching, "response")) as [http.IncomingMessage];
  let isOver = false;
  watched.resume().on("close", () => (isOver = true));
  const check = "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  // A body that never comes, and a watch that everybody may open.
  const watch = check.replace("Check", "Watch").replace("/json", "/connect+json");
  const ended = await flood(port, [
    `${check}Content-Length: 2\r\n\r\n{`,
    `${watch}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
  ]);
  await eventually(
    () => ended() > 100,
    () => String(ended()),
  );
  for (let count = 0; count < 10; count++) {
    expect(JSON.parse(await overHttp1(url, "/actuator/loggers", { headers }))).toHaveProperty("levels");
  }
  expect(isOver).toBe(false);
});

/** A message of a stream in Connect. */
const BODY = "\0\0\0\0\x02{}";

async function serving(handler: RequestHandler, options: ListenOptions) {
  const listener: Listener = createListener(handler, { limits });
  onTestFinished(() => listener.drain({ deadlineMs: 0 }));
  return { listener, ...(await listener.listen(options)) };
}

async function overHttp1(url: string, path: string, options: http.RequestOptions = {}): Promise<string> {
  const { ca } = (await testTrust()).authority;
  const get = url.startsWith("https") ? https.get : http.get;
  const [res] = (await once(get(url + path, { agent: false, ca, ...options }), "response")) as [http.IncomingMessage];
  return textOf(res);
}

async function overHttp2(url: string, path: string, { localAddress }: http.RequestOptions = {}): Promise<string> {
  const session = http2.connect(url, {
    ca: (await testTrust()).authority.ca,
    localAddress,
  } as http2.ClientSessionOptions);
  const text = await textOf(session.request({ ":path": path }));
  session.close();
  return text;
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
