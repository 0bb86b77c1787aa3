import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { RedisServer } from "./redis-server.ts";
import { freePort } from "./server-process.ts";

/** A real sentinel of one test. */
export interface RedisSentinel {
  readonly host: string;
  readonly port: number;
  /** It stops answering while its connections stay open (SIGSTOP). */
  freeze(): void;
}

/** Starts a sentinel that names `server` as the master `main`. It ends with the test. */
export async function startSentinel({ port: main }: RedisServer): Promise<RedisSentinel> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-sentinel-"));
  const file = join(folder, "sentinel.conf");
  writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${main} 1\n`);
  const process = spawn("redis-server", [file, "--sentinel"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(process, "exit");
  onTestFinished(async () => {
    process.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  for await (const line of createInterface(process.stdout)) {
    if (line.includes("+monitor master main")) break;
  }
  process.stdout.resume();
  return { host: "127.0.0.1", port, freeze: () => void process.kill("SIGSTOP") };
}
