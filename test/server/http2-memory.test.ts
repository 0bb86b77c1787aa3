// @module-tag slow
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { Connections } from "../../src/server/connections.ts";
import { Http2Sessions } from "../../src/server/http2-sessions.ts";
import { limitsWith } from "../../src/server/limits.ts";
import { PREFACE } from "../../src/server/port.ts";
import { patient } from "../support/patient-limits.ts";
import { END_HEADERS, FRAME, frame, settings } from "../support/server-frames.ts";
import { eventually } from "../support/server-harness.ts";
import { testTrust, tlsClient } from "../support/server-tls.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const CONNECTIONS = 10;
const soon = 100;

test.each<readonly [string, Buffer]>([
  ["DATA on no stream", frame(FRAME.DATA, 0, 0, Buffer.from("x"))],
  ["a PING that is too short", frame(FRAME.PING, 0, 0, Buffer.alloc(1))],
  ["headers that nobody can read", frame(FRAME.HEADERS, END_HEADERS, 3, Buffer.from([0x80]))],
])("a client that leaves after %s, and never acknowledged SETTINGS, is not remembered", async (_, mistake) => {
  const sessions = new Http2Sessions(() => {}, limitsWith({ ...patient, pingIntervalMs: soon, pingTimeoutMs: soon }));
  // Node 22.12 neither ends such a connection nor reads on; what finds out is that it is silent.
  const sweeper = setInterval(() => sessions.sweep(performance.now()), soon / 5);
  onTestFinished(() => clearInterval(sweeper));
  const connections = new Connections({ max: 0, maxPerClient: 0, exempt: () => true, authenticated: true });
  const { server: pair } = await testTrust();
  const sockets: WeakRef<TLSSocket>[] = [];
  const server = tls.createServer({ ...pair, ALPNProtocols: ["h2"] }, (socket) => {
    sockets.push(new WeakRef(socket));
    sessions.accept(socket, connections.of(socket)!);
  });
  server.on("connection", (socket) => connections.admit(socket));
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  for (let index = 0; index < CONNECTIONS; index++) {
    const { socket, received, closed } = await tlsClient(port, { ALPNProtocols: ["h2"] });
    socket.write(Buffer.concat([PREFACE, settings()]));
    await eventually(() => received() !== "", received);
    // Both arrive together: the server still has a goodbye to send on a socket whose client has gone.
    socket.end(mistake);
    await closed;
  }

  expect(sockets).toHaveLength(CONNECTIONS);
  const left = () => sockets.filter((socket) => socket.deref() !== undefined).length;
  await eventually(
    () => {
      collect();
      return left() === 0;
    },
    () => `${left()} sockets in memory, ${sessions.sessionCount} sessions known`,
  );
});
