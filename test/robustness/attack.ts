import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import tls from "node:tls";
import type { FuzzInput, Over } from "./fuzz-inputs.ts";

/** The ports under attack. */
export interface Ports {
  readonly port: number;
  readonly tlsPort: number;
}

const ALPN: Partial<Record<Over, string[]>> = { "tls h2": ["h2"], "tls http/1.1": ["http/1.1"], tls: [] };
/** Much longer than every limit of the server, and then as long as a machine may need that is busy with other things. */
const PATIENCE_MS = [10_000, 60_000];
/** A client that receives this many messages is in a conversation, such as a watch over HTTP/1.1, which ends when its client disconnects. */
const CONVERSATION_MS = 2_000;
/** This watch answers at once, and then says nothing while nothing changes: its messages cannot be heartbeats, and HTTP/1.1 has no PING. */
const QUIET_WATCH = "POST /grpc.health.v1.Health/Watch HTTP/1.1";
/** For an answer. Who left at once would fill the queue of connections faster than any server empties it. */
const ANSWER_MS = 250;

/**
 * Carries out one attack, from an address of its own, so that the ports of no address run out. Resolves to whether the
 * server has ended what it should have when its client stayed.
 */
export async function attack({ port, tlsPort }: Ports, input: FuzzInput, index: number): Promise<boolean> {
  const localAddress = `127.0.1.${1 + (index % 250)}`;
  const tcp = net.connect({
    port: input.over === "tcp" ? port : tlsPort,
    host: "127.0.0.1",
    localAddress,
    noDelay: true,
  });
  tcp.on("error", () => {});
  const closed = new Promise<boolean>((resolve) => tcp.once("close", () => resolve(true)));
  await Promise.race([once(tcp, "connect").catch(() => {}), closed]);
  const socket = input.over.startsWith("tls") ? await handshake(tcp, ALPN[input.over]!) : tcp;
  let heard = 0;
  socket.on("data", () => {
    heard = performance.now();
  });
  for (const write of input.writes) {
    if (tcp.destroyed) break;
    if (typeof write === "number") await delay(write);
    // A server that stops reading would block the attack.
    else if (!socket.write(write)) await Promise.race([once(socket, "drain").catch(() => {}), closed, delay(1_000)]);
  }
  if (input.leave === "reset") tcp.resetAndDestroy();
  if (input.leave === "end") {
    socket.end();
    await Promise.race([closed, delay(ANSWER_MS)]);
    tcp.destroy();
  }
  let right = false;
  for (const patience of PATIENCE_MS) {
    right ||= await Promise.race([closed, delay(patience, false, { ref: false })]);
    right ||= performance.now() - heard < CONVERSATION_MS || (heard > 0 && isQuietWatch(input));
  }
  tcp.destroy();
  return right;
}

function isQuietWatch({ writes }: FuzzInput): boolean {
  return writes.some((write) => typeof write !== "number" && write.includes(QUIET_WATCH));
}

/** TLS over a socket; as much of it as the server lets happen. */
async function handshake(tcp: net.Socket, ALPNProtocols: string[]): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    socket: tcp,
    rejectUnauthorized: false,
    ...(ALPNProtocols.length > 0 && { ALPNProtocols }),
  });
  socket.on("error", () => {});
  await Promise.race([once(socket, "secureConnect").catch(() => {}), once(tcp, "close").catch(() => {}), delay(2_000)]);
  return socket;
}
