import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "redis";
import type { KeyPair } from "./certificates.ts";
import { freePort } from "./server-process.ts";

/** Whether `redis-server` is installed, for `describe.runIf(requirement("redis-server", redisFound))`. */
export const redisFound: boolean = spawnSync("redis-server", ["--version"]).status === 0;

export interface RedisServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** It also answers over TLS at this port, with this certificate. */
  readonly tls?: KeyPair & { readonly port: number };
  /** More of the server's own arguments, such as `["--maxmemory", "1mb"]`. */
  readonly args?: readonly string[];
}

/** A real Redis of one test file, on 127.0.0.1 and in a folder of its own. What it acknowledged survives `kill`. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The server's process, anew after each start. */
  readonly pid: number;
  /** Sends a command on a connection of the fixture's own, as a user who may do everything. */
  command(...args: readonly string[]): Promise<unknown>;
  /** Ends the server for good, with its data. May be called twice. */
  stop(): Promise<void>;
  /** Ends the server without giving it a chance (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and with the same data; kills it first where it runs. */
  restart(): Promise<void>;
  /** The server stops answering while its connections stay open (SIGSTOP). */
  freeze(): void;
  thaw(): void;
}

/** Starts a server, ready to answer. It also ends when this process ends in whatever way. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-redis-"));
  const port = options.port ?? (await freePort());
  const url = `redis://127.0.0.1:${port}`;
  const args = [...(options.tls === undefined ? [] : tlsArgs(options.tls, folder)), ...(options.args ?? [])];
  let server = await run(port, folder, args);
  let client: ReturnType<typeof createClient> | undefined;

  async function connected() {
    if (client === undefined) {
      client = createClient({ url, RESP: 2, disableOfflineQueue: true, socket: { reconnectStrategy: false } });
      client.on("error", () => {});
      await client.connect();
    }
    return client;
  }

  async function kill(): Promise<void> {
    client?.destroy();
    client = undefined;
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  }

  async function stop(): Promise<void> {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    url,
    host: "127.0.0.1",
    port,
    get pid() {
      return server.pid!;
    },
    command: async (...args) => (await connected()).sendCommand(args),
    stop,
    kill,
    async restart() {
      await kill();
      server = await run(port, folder, args);
    },
    freeze: () => void server.kill("SIGSTOP"),
    thaw: () => void server.kill("SIGCONT"),
    [Symbol.asyncDispose]: stop,
  };
}

function tlsArgs({ port, ...pair }: NonNullable<RedisServerOptions["tls"]>, folder: string): string[] {
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.cert, pair.cert);
  writeFileSync(files.key, pair.key);
  const tls = ["--tls-port", `${port}`, "--tls-auth-clients", "no"];
  return [...tls, "--tls-cert-file", files.cert, "--tls-key-file", files.key];
}

async function run(port: number, folder: string, args: readonly string[]): Promise<ChildProcess> {
  // Every write is in the file before it is acknowledged, and survives the process, though perhaps not the machine.
  const durable = ["--save", "", "--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"];
  const server = spawn(
    "redis-server",
    ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, ...durable, ...args],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  endWithThisProcess(server, folder);
  let log = "";
  for await (const line of createInterface(server.stdout!)) {
    log += `${line}\n`;
    if (line.includes("Ready to accept connections")) {
      server.stdout!.resume();
      return server;
    }
  }
  throw new Error(`redis-server did not start:\n${log}`);
}

/** A shell that reads from this process until it is gone, however it ended, and then ends the server with its data. */
function endWithThisProcess(server: ChildProcess, folder: string): void {
  const args = ["-c", 'read -r _; kill -9 "$0"; rm -rf "$1"', `${server.pid}`, folder];
  const guard = spawn("sh", args, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  server.once("exit", () => guard.kill("SIGKILL"));
}
