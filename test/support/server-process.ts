import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** How a server is started. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** What it writes, to its output or its error output, when it is ready to answer. */
  readonly ready: RegExp;
  /** How long it may take to be ready, in milliseconds; 50 seconds by default. */
  readonly patience?: number;
}

/** What every server of a test file can do. */
export interface RunningServer extends AsyncDisposable {
  readonly host: string;
  /** The server's process, anew after each start. */
  readonly pid: number;
  /** Ends the server for good, with its data. May be called twice. */
  stop(): Promise<void>;
  /** Ends the server without giving it a chance (SIGKILL). */
  kill(): Promise<void>;
  /** The server stops answering while its connections stay open (SIGSTOP). */
  freeze(): void;
  thaw(): void;
}

/** A server that comes back. */
export interface RestartableServer extends RunningServer {
  /** Starts it again after `kill`, on the same port and with the same data; kills it first where it runs. */
  restart(): Promise<void>;
}

/** A folder for one server, and the processes that live in it. All go when this process goes, however it ends. */
export class ServerFolder {
  readonly path: string;
  readonly #guard: ChildProcess;
  readonly #processes = new Set<ChildProcess>();

  constructor(name: string, parent: string = tmpdir()) {
    this.path = mkdtempSync(join(parent, `connect-actuator-${name}-`));
    // A shell that hears from this process until it is gone. Each line it is told names all the processes. What they have
    // started themselves may write a moment longer.
    const script =
      'pids=; while read -r line; do pids=$line; done; kill -9 $pids; for _ in 1 2 3 4; do rm -rf "$0"; sleep 0.3; done';
    this.#guard = spawn("sh", ["-c", script, this.path], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    this.#guard.unref();
    (this.#guard.stdin as unknown as { unref(): void }).unref();
  }

  /** Starts a process, and waits until it is ready. The match of `ready` comes with it. */
  async run({
    command,
    args,
    env,
    ready,
    patience = 50_000,
  }: Launch): Promise<{ process: ChildProcess; match: RegExpMatchArray }> {
    const child = spawn(command, args, {
      cwd: this.path,
      env: { ...process.env, ...env },
      // Its input stays open: some end with it.
      stdio: ["pipe", "pipe", "pipe"],
    });
    const gone = once(child, "exit");
    this.#processes.add(child);
    child.once("exit", () => {
      this.#processes.delete(child);
      this.#tell();
    });
    this.#tell();
    let log = "";
    const started = Promise.withResolvers<RegExpMatchArray>();
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        const match = line.match(ready);
        if (match !== null) started.resolve(match);
        if (log.length < 100_000) log += `${line}\n`;
      });
    }
    const refused = () => started.reject(new Error(`${command} did not start:\n${log}`));
    gone.then(refused, started.reject);
    const timer = setTimeout(refused, patience);
    try {
      return { process: child, match: await started.promise };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends every process, and removes the folder. */
  async remove(): Promise<void> {
    await Promise.all(Array.from(this.#processes, killed));
    this.#guard.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  #tell(): void {
    this.#guard.stdin!.write(`${Array.from(this.#processes, ({ pid }) => pid).join(" ")}\n`, () => {});
  }
}

/**
 * A parent for the folder of a server that waits for its disk again and again: in memory, where there is room. What is written
 * there survives the process all the same.
 */
export function fastParent(): string {
  const memory = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(memory);
    accessSync(memory, constants.W_OK);
    return bavail * bsize > 1e9 ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A server in a folder of its own, started by `launch` again and again. */
export async function restartable(folder: ServerFolder, launch: Launch): Promise<RestartableServer> {
  let server: ChildProcess;
  try {
    ({ process: server } = await folder.run(launch));
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const stop = () => folder.remove();
  return {
    host: "127.0.0.1",
    get pid() {
      return server.pid!;
    },
    stop,
    kill: () => killed(server),
    async restart() {
      await killed(server);
      ({ process: server } = await folder.run(launch));
    },
    freeze() {
      server.kill("SIGSTOP");
      untilStopped(server.pid!);
    },
    thaw: () => void server.kill("SIGCONT"),
    [Symbol.asyncDispose]: stop,
  };
}

const STOPPED_WITHIN_MS = 5_000;

/** One thread takes the signal and stops the others. On a busy machine they may answer until then. */
function untilStopped(pid: number): void {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return;
  const late = performance.now() + STOPPED_WITHIN_MS;
  const isStopped = (id: string) => /\) T /.test(readFileSync(`${threads}/${id}/stat`, "utf8"));
  while (!readdirSync(threads).every(isStopped)) {
    if (performance.now() > late) throw new Error(`Process ${pid} does not stop.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Ends a process, where it runs, without giving it a chance. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** A port of 127.0.0.1 without a listener. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/**
 * Several ports of 127.0.0.1 without listeners, below those that the system assigns for port 0: else one of
 * the many connections and servers of other tests would get it before its own server listens, or while that is started again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(12_000, 32_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
