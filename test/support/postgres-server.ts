import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { KeyPair } from "./certificates.ts";
import { freePort } from "./server-process.ts";

/** The folder of PostgreSQL's programs: the newest of Debian's, which are not on PATH, or the one that PATH has. */
const programs = programsFolder();

/** Whether PostgreSQL is installed, for `describe.runIf(requirement("postgresql", postgresFound))`. */
export const postgresFound: boolean = programs !== undefined;

export interface PostgresServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** It also answers over TLS, with this certificate. */
  readonly tls?: KeyPair;
  /** The server's own settings, such as `{ TimeZone: "Asia/Kolkata" }`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/**
 * A real PostgreSQL of one test file, on 127.0.0.1 and in a folder of its own, in UTF-8. The superuser `postgres` needs no
 * password. What it acknowledged survives `kill`.
 */
export interface PostgresServer extends AsyncDisposable {
  /** Of the database `postgres`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Where its socket is: pg's `host` for a connection without TCP. */
  readonly socketDir: string;
  /** The server's first process, anew after each start. */
  readonly pid: number;
  /** Runs a statement on a connection of the fixture's own, as the superuser. Without `values` there may be several. */
  // biome-ignore lint/suspicious/noExplicitAny: rows are what the test's own statement makes them.
  query(sql: string, values?: readonly unknown[]): Promise<any[]>;
  /** Ends the server for good, with its data. May be called twice. */
  stop(): Promise<void>;
  /** Ends all its processes without giving them a chance (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and with the same data; kills it first where it runs. */
  restart(): Promise<void>;
  /** All its processes stop answering while their connections stay open (SIGSTOP). */
  freeze(): void;
  thaw(): void;
}

/** Starts a server, ready to answer. It also ends when this process ends in whatever way. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-postgres-"));
  const user = unprivilegedUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const init = ["--pgdata", join(folder, "data"), "--username", "postgres", "--auth", "trust", "--no-sync"];
  execFileSync(join(programs!, "initdb"), [...init, "--encoding", "UTF8", "--locale", "C", "--no-instructions"], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const port = options.port ?? (await freePort());
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = { ...(options.tls && tlsSettings(options.tls, folder, user)), ...options.settings };
  let server = await run(port, folder, user, settings);
  let client: Promise<Client> | undefined;

  async function connected(): Promise<Client> {
    const made = new Client({ connectionString: url });
    made.on("error", () => {});
    made.on("end", () => {
      client = undefined;
    });
    await made.connect();
    return made;
  }

  function signal(name: NodeJS.Signals): void {
    for (const pid of [server.pid!, ...childrenOf(server.pid!)]) sendSignal(pid, name);
  }

  async function ended(): Promise<void> {
    const made = client;
    client = undefined;
    await made?.then(
      (client) => client.end(),
      () => {},
    );
  }

  async function kill(): Promise<void> {
    if (isOver(server)) return;
    const exit = once(server, "exit");
    // It must neither start processes while they are counted, nor see its own die.
    server.kill("SIGSTOP");
    const children = childrenOf(server.pid!);
    for (const pid of [...children, server.pid!]) sendSignal(pid, "SIGKILL");
    await exit;
    // A server that starts while any of the old processes is left refuses the old one's memory.
    while (children.some((pid) => sendSignal(pid, 0) && !isZombie(pid))) await delay(5);
    await ended();
  }

  async function stop(): Promise<void> {
    if (!isOver(server)) {
      const exit = once(server, "exit");
      signal("SIGCONT");
      await ended();
      server.kill("SIGQUIT");
      await exit;
    }
    rmSync(folder, { recursive: true, force: true });
  }

  return {
    url,
    host: "127.0.0.1",
    port,
    socketDir: folder,
    get pid() {
      return server.pid!;
    },
    async query(sql, values) {
      client ??= connected();
      client.catch(() => {
        client = undefined;
      });
      const result = await (await client).query(
        values === undefined ? { text: sql } : { text: sql, values: [...values] },
      );
      return Array.isArray(result) ? result.at(-1).rows : result.rows;
    },
    stop,
    kill,
    async restart() {
      await kill();
      server = await run(port, folder, user, settings);
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    [Symbol.asyncDispose]: stop,
  };
}

type User = { readonly uid: number; readonly gid: number } | { readonly uid?: never; readonly gid?: never };

/** The key must belong to the server's user, and to no other. */
function tlsSettings(pair: KeyPair, folder: string, user: User) {
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  for (const name of ["cert", "key"] as const) {
    writeFileSync(files[name], pair[name], { mode: 0o600 });
    if (user.uid !== undefined) chownSync(files[name], user.uid, user.gid);
  }
  return { ssl: "on", ssl_cert_file: files.cert, ssl_key_file: files.key };
}

async function run(port: number, folder: string, user: User, settings: PostgresServerOptions["settings"] = {}) {
  const all = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    // In the folder, where it goes with the rest.
    dynamic_shared_memory_type: "mmap",
    // What is written survives the process, though perhaps not the machine.
    fsync: "off",
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs!, "postgres"), ["-D", join(folder, "data"), "-p", `${port}`, ...args], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  endWithThisProcess(server, folder);
  let log = "";
  for await (const line of createInterface(server.stderr!)) {
    log += `${line}\n`;
    if (line.includes("ready to accept connections")) {
      server.stderr!.resume();
      return server;
    }
  }
  throw new Error(`postgres did not start:\n${log}`);
}

/** A shell that reads from this process until it is gone, however it ended, and then ends the server with its data. */
function endWithThisProcess(server: ChildProcess, folder: string): void {
  const script = `read -r _
    kill -CONT "$0" $(cat "/proc/$0/task/$0/children" 2>/dev/null)
    kill -QUIT "$0"
    for _ in $(seq 50); do [ -e "$1/data/postmaster.pid" ] || break; sleep 0.1; done
    rm -rf "$1"`;
  const guard = spawn("sh", ["-c", script, `${server.pid}`, folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  server.once("exit", () => guard.kill("SIGKILL"));
}

/** PostgreSQL does not run as root: then as the user that its package made, or as nobody. */
export function unprivilegedUser(): User {
  if (process.getuid?.() !== 0) return {};
  const name = spawnSync("id", ["-u", "postgres"]).status === 0 ? "postgres" : "nobody";
  const idOf = (kind: string) => Number(execFileSync("id", [kind, name], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

function programsFolder(): string | undefined {
  const newest = globSync("/usr/lib/postgresql/*/bin/postgres").sort(byVersion).at(-1);
  if (newest !== undefined) return dirname(newest);
  return process.env.PATH?.split(":").find((folder) => existsSync(join(folder, "postgres")));
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.split(" ").map(Number).filter(Boolean);
  } catch {
    // Not on Linux.
    const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
    const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.filter(([, parent]) => parent === pid).map(([child]) => child!);
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Ended, but not yet taken note of by its new parent. It holds nothing any more. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function isOver(server: ChildProcess): boolean {
  return server.exitCode !== null || server.signalCode !== null;
}
