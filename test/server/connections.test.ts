import { once } from "node:events";
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { Connections, speakersForMany } from "../../src/server/connections.ts";
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

async function close(socket: net.Socket): Promise<void> {
  await new Promise((resolve) => socket.once("close", resolve).destroy());
}

describe("connections of one client", () => {
  test("have a limit, which ends with them", async () => {
    const connections = new Connections(2, () => false);
    const [first, second, third] = ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"].map(socketFrom);
    expect([first, second, third].map((socket) => connections.admit(socket!))).toEqual([true, true, false]);
    expect(connections.admit(socketFrom("192.0.2.2"))).toBe(true);
    expect(connections.size).toBe(3);
    await close(first!);
    expect(connections.size).toBe(2);
    expect(connections.admit(third!)).toBe(true);
    expect(connections.admit(socketFrom("192.0.2.1"))).toBe(false);
  });

  test("are those of a whole /64 over IPv6", () => {
    const connections = new Connections(1, () => false);
    expect(connections.admit(socketFrom("2001:db8::1"))).toBe(true);
    expect(connections.admit(socketFrom("2001:db8::dead:beef:0:1"))).toBe(false);
    expect(connections.admit(socketFrom("2001:db8:0:1::1"))).toBe(true);
  });

  test.each([
    ["0 is no limit", 0, "192.0.2.1", () => false],
    ["who speaks for many is exempt", 1, "192.0.2.1", (address: string) => address === "192.0.2.1"],
    ["a Unix socket has no address", 1, undefined, () => false],
  ] as const)("%s", (_, most, address, exempt) => {
    const connections = new Connections(most, exempt);
    for (let count = 0; count < 5; count++) expect(connections.admit(socketFrom(address))).toBe(true);
    expect(connections.size).toBe(5);
  });

  test("count for the /64 of an IPv6 address", () => {
    const connections = new Connections(1, () => false);
    const sockets = ["2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1"].map(socketFrom);
    expect(sockets.map((socket) => connections.admit(socket))).toEqual([true, false, true]);
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
  ])("what is over the limit is closed at once, and nothing else ($name)", async ({ open }) => {
    const limits = limitsWith();
    const handler: RequestHandler = (_, res) => void res.end();
    const connections = new Connections(2, () => false);
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
    await Promise.all(clients.slice(2).map(({ closed }) => closed));
    expect(connections.size).toBe(2);
    expect(clients.slice(0, 2).map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });
});
