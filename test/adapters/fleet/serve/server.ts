import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../../support/server-process.ts";
import type { EngineServer } from "../engine-contract.ts";

/** A process that keeps fleets. */
export interface KeepingServer extends EngineServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a process that keeps fleets, which a restart empties. */
export async function startKeepingServer(): Promise<KeepingServer> {
  const port = await freePort();
  let child = await start(port);
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  return {
    url: `http://127.0.0.1:${port}`,
    kill,
    stop: kill,
    async restart() {
      child = await start(port);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
  };
}

async function start(port: number): Promise<ChildProcess> {
  const child = fork(`${import.meta.dirname}/server-child.ts`, [String(port)], { stdio: "ignore" });
  await once(child, "message");
  return child;
}
