import { once } from "node:events";
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ConnectionBounds, Connections, speakersForMany } from "../../src/server/connections.ts";
import type { RequestHandler } from "../../src/server/handler.ts";
import { Http2Sessions } from "../../src/server/http2-sessions.ts";
import { limitsWith } from "../../src/server/limits.ts";
import { cleartextPort, type PortParts, securePort } from "../../src/server/port.ts";
import { eventually, rawClient, serve } from "../support/server-harness.ts";
import { testTrust } from "../support/server-tls.ts";

/** A socket as far as counting goes. */
function socketFrom(remoteAddress: string | undefined): net.Socket {
  const socket = new net.Socket();
  onTestFinished(() => void socket.destroy());
  return Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
}

function bounded(bounds: Partial<ConnectionBounds>): Connections {
  return new Connections({ max: 0, maxPerClient: 0, exempt: () => false, authenticated: false, ...bounds });
}

async function close(socket: net.Socket): Promise<void> {
  await new Promise((resolve) => socket.once("close", resolve).destroy());
}

/** Opens a connection on which somebody works. */
function working(connections: Connections, address: string | undefined): net.Socket {
  const socket = socketFrom(address);
  connections.admit(socket)!.began();
  return socket;
}

describe("connections of one client", () => {
  test("have a limit, which ends with them", async () => {
    const connections = bounded({ maxPerClient: 2 });
    const [first] = [working(connections, "192.0.2.1"), working(connections, "::ffff:192.0.2.1")];
    expect(connections.admit(socketFrom("192.0.2.1"))).toBeUndefined();
    expect(connections.admit(socketFrom("192.0.2.2"))).toBeDefined();
    expect(connections.size).toBe(3);
    await close(first!);
    expect(connections.size).toBe(2);
    working(connections, "192.0.2.1");
    expect(connections.admit(socketFrom("192.0.2.1"))).toBeUndefined();
  });

  test("give way to new ones of the same client, idle for longest first", () => {
    const connections = bounded({ maxPerClient: 2 });
    const other = socketFrom("192.0.2.2");
    connections.admit(other);
    const sockets = Array.from({ length: 4 }, () => socketFrom("192.0.2.1"));
    for (const socket of sockets) expect(connections.admit(socket)).toBeDefined();
    expect([other, ...sockets].map(({ destroyed }) => destroyed)).toEqual([false, true, true, false, false]);
    expect(connections.size).toBe(3);
  });

  test("are those of a whole /64 over IPv6", () => {
    const connections = bounded({ maxPerClient: 1 });
    working(connections, "2001:db8::1");
    expect(connections.admit(socketFrom("2001:db8::dead:beef:0:1"))).toBeUndefined();
    expect(connections.admit(socketFrom("2001:db8:0:1::1"))).toBeDefined();
  });

  test.each([
    ["0 is no limit", 0, "192.0.2.1", () => false],
    ["who speaks for many is exempt", 1, "192.0.2.1", (address: string) => address === "192.0.2.1"],
    ["a Unix socket has no address", 1, undefined, () => false],
  ] as const)("%s", (_, maxPerClient, address, exempt) => {
    const connections = bounded({ maxPerClient, exempt });
    for (let count = 0; count < 5; count++) working(connections, address);
    expect(connections.size).toBe(5);
  });
});

describe("a new connection over the limit of all", () => {
  test("takes the place of the one that is idle for longest, of the client with most of these", async () => {
    const connections = bounded({ max: 6 });
    const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8::3"];
    const sockets = addresses.map(socketFrom);
    const opened = sockets.map((socket) => connections.admit(socket)!);
    const ended = () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []));
    // Idle since now, and so behind the other two of its network.
    opened[3]!.began();
    opened[3]!.ended();
    connections.admit(socketFrom("192.0.2.3"));
    expect(ended()).toEqual([4]);
    // Two have two each: the first of 192.0.2.2 is there for longer.
    connections.admit(socketFrom("192.0.2.4"));
    expect(ended()).toEqual([1, 4]);
    connections.admit(socketFrom("192.0.2.5"));
    expect(ended()).toEqual([1, 4, 5]);
    connections.admit(socketFrom("192.0.2.6"));
    expect(ended()).toEqual([0, 1, 4, 5]);
    expect(connections.size).toBe(6);
  });

  test.each(["192.0.2.1", undefined])("ends nothing where all are at work, from %s", async (address) => {
    const connections = bounded({ max: 2 });
    const sockets = [working(connections, address), working(connections, address)];
    expect(connections.admit(socketFrom(address))).toBeUndefined();
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    await close(sockets[0]!);
    expect(connections.admit(socketFrom(address))).toBeDefined();
  });

  test("comes after requests on the same connection are all answered", () => {
    const connections = bounded({ max: 1 });
    const connection = connections.admit(socketFrom("192.0.2.1"))!;
    connection.began();
    connection.began();
    connection.ended();
    expect(connections.admit(socketFrom("192.0.2.1"))).toBeUndefined();
    connection.ended();
    expect(connections.admit(socketFrom("192.0.2.1"))).toBeDefined();
  });

  test("takes no heed of what strangers have begun where callers are asked who they are", () => {
    const connections = bounded({ max: 1, authenticated: true });
    const stranger = working(connections, "192.0.2.1");
    const known = connections.admit(socketFrom("192.0.2.2"))!;
    expect(stranger.destroyed).toBe(true);
    known.began();
    known.markAuthenticated();
    expect(connections.admit(socketFrom("192.0.2.3"))).toBeUndefined();
    known.ended();
    known.began();
    expect(connections.admit(socketFrom("192.0.2.3"))).toBeUndefined();
    known.ended();
    expect(connections.admit(socketFrom("192.0.2.3"))).toBeDefined();
  });

  test("finds nothing of those that have closed, whatever ends on them later", async () => {
    const connections = bounded({ max: 1 });
    const socket = socketFrom("192.0.2.1");
    const connection = connections.admit(socket)!;
    connection.began();
    await close(socket);
    connection.ended();
    const next = working(connections, "192.0.2.1");
    expect(connections.admit(socketFrom("192.0.2.1"))).toBeUndefined();
    expect(next.destroyed).toBe(false);
    expect(connections.size).toBe(1);
  });
});

test("this machine and trusted proxies speak for many", () => {
  const exempt = speakersForMany((address) => address === "192.0.2.1");
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "192.0.2.1"]) expect(exempt(address)).toBe(true);
  for (const address of ["192.0.2.2", "2001:db8::1"]) expect(exempt(address)).toBe(false);
  expect(speakersForMany(undefined)("192.0.2.1")).toBe(false);
});

describe("at a port", () => {
  test("this machine is exempt", async () => {
    const { port, listener } = await serve((_, res) => void res.end(), { limits: { maxConnectionsPerAddress: 2 } });
    await Promise.all(Array.from({ length: 5 }, () => rawClient(port)));
    await eventually(
      () => listener.counts.connections === 5,
      () => JSON.stringify(listener.counts),
    );
  });

  test.each([
    { name: "cleartext", open: async (parts: PortParts) => cleartextPort(parts) },
    { name: "TLS", open: async (parts: PortParts) => securePort(parts, (await testTrust()).server) },
  ])("what is over the limit of its client costs the oldest, and nothing else ($name)", async ({ open }) => {
    const limits = limitsWith();
    const handler: RequestHandler = (_, res) => void res.end();
    const connections = bounded({ maxPerClient: 2 });
    const http2 = new Http2Sessions(handler, limits);
    const server = await open({ handler, limits, draining: () => false, connections, http2 });
    onTestFinished(() => {
      connections.destroy();
      server.close();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const clients = [];
    for (let count = 0; count < 5; count++) clients.push(await rawClient((server.address() as net.AddressInfo).port));
    await Promise.all(clients.slice(0, 3).map(({ closed }) => closed));
    expect(connections.size).toBe(2);
    expect(clients.slice(3).map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });
});
