// @module-tag slow
import { fork } from "node:child_process";
import net from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import tls from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { messageOf } from "../support/child-message.ts";
import { Random } from "../support/random.ts";
import { http1Request } from "../support/server-harness.ts";
import type { Held } from "../support/server-hostile-child.ts";
import { hostileInput, TRUNCATED } from "../support/server-hostile-inputs.ts";
import { httpsRequest } from "../support/server-tls.ts";

const AT_A_TIME = 64;

test.each([
  { over: "cleartext", inputs: 10_000, connect: connectPlain, child: [], scheme: "http" },
  { over: "TLS", inputs: 3_000, connect: connectTls, child: ["tls"], scheme: "https" },
])(
  "$inputs hostile inputs over $over neither end the process nor leave anything behind",
  { timeout: 300_000 },
  async (run) => {
    // The same every time, so that a change is judged by what it did.
    const seed = Number(process.env.HOSTILE_SEED ?? 1);
    console.log(`hostile inputs: HOSTILE_SEED=${seed} repeats this run`);
    const random = new Random(seed);

    const child = fork(join(import.meta.dirname, "..", "support", "server-hostile-child.ts"), run.child);
    onTestFinished(() => void child.kill("SIGKILL"));
    let death: string | undefined;
    child.once("exit", (code, signal) => {
      death = `the process ended with ${code ?? signal}`;
    });
    const { port } = await messageOf<{ port: number }>(child);
    const url = `${run.scheme}://127.0.0.1:${port}`;
    const unverified = { rejectUnauthorized: false, agent: false } as const;
    const get = (path: string) => (run.scheme === "https" ? httpsRequest : http1Request)(url + path, unverified);

    let under = true;
    const honest = honestClient();
    honest.catch(() => {}); // Looked at when the attacks are over.
    let sent = 0;
    await Promise.all(
      Array.from({ length: AT_A_TIME }, async () => {
        while (sent < run.inputs && death === undefined) {
          sent++;
          await attack(run.connect(port, random), hostileInput(random));
        }
      }),
    );
    expect(death).toBeUndefined();
    under = false;
    const answers = await honest;
    expect(answers).toBeGreaterThan(10);

    let held: Held;
    const reports: string[] = [];
    const end = performance.now() + 60_000;
    do {
      await delay(50);
      expect(death).toBeUndefined();
      child.send("tell");
      held = await messageOf<Held>(child);
      reports.push(...held.reports);
    } while (held.sockets + held.connections + held.sessions + held.streams > 0 && performance.now() < end);
    // Nothing is reported either: a client that goes away is nobody's error, and must not be able to fill a log.
    expect({ ...held, reports }).toEqual({ sockets: 0, connections: 0, sessions: 0, streams: 0, reports: [] });

    expect((await get(`/actuator/loggers/${TRUNCATED}`)).status).toBe(404);
    expect((await get("/actuator/health")).status).toBe(200);

    /** Somebody with a right to be there, who is served all the time. */
    async function honestClient(): Promise<number> {
      // A connection for each request: the server closes an idle one soon, and a request that crosses that would fail.
      const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1", nodeOptions: unverified });
      const rpc = createClient(Health, transport);
      let answers = 0;
      while (under && death === undefined) {
        expect((await get("/actuator/loggers")).status).toBe(200);
        await rpc.check({});
        answers += 2;
        await delay(20);
      }
      return answers;
    }
  },
);

/** A way in, and the TCP connection under it. */
interface Connected {
  readonly socket: net.Socket;
  readonly tcp: net.Socket;
}

function connectPlain(port: number): Connected {
  const tcp = net.connect({ port, host: "127.0.0.1", noDelay: true });
  return { socket: tcp, tcp };
}

/** Sometimes what is hostile begins before the handshake. */
function connectTls(port: number, random: Random): Connected {
  const { tcp } = connectPlain(port);
  if (random.below(10) === 0) return { socket: tcp, tcp };
  tcp.on("error", () => {});
  const ALPNProtocols = random.pick([["h2"], ["http/1.1"], []]);
  return { socket: tls.connect({ socket: tcp, rejectUnauthorized: false, ALPNProtocols }), tcp };
}

async function attack({ socket, tcp }: Connected, { writes, leave }: ReturnType<typeof hostileInput>): Promise<void> {
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  socket.resume();
  for (const write of writes) {
    if (typeof write === "number") await delay(write);
    else if (socket.writable) await new Promise((resolve) => socket.write(write, resolve));
  }
  if (leave === "reset") tcp.resetAndDestroy();
  if (leave === "end") {
    socket.end();
    await Promise.race([closed, delay(20)]);
    socket.destroy();
  }
  await closed;
}
