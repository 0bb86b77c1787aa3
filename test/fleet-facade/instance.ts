import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { messageOf } from "../support/child-message.ts";
import { freePort } from "../support/server-process.ts";
import type { InstanceOptions } from "./instance-child.ts";

/** An application in a process of its own. */
export interface Application {
  readonly url: string;
  /** The levels of its native loggers. */
  levels(): Promise<Readonly<Record<string, string>>>;
  /** The application itself sets a native level. */
  set(name: string, level: string): Promise<void>;
  /** The application makes a logger. */
  create(name: string): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Ends the process without giving it a chance. */
  kill(): Promise<void>;
  /** Starts a new process at the same address. */
  restart(): Promise<void>;
}

const CHILD = join(import.meta.dirname, "instance-child.ts");

/** Starts an application, until the test ends. */
export async function startApplication(options: InstanceOptions = {}): Promise<Application> {
  const port = await freePort();
  let child: ChildProcess;
  let url = "";

  async function start(): Promise<void> {
    child = fork(CHILD, [`${port}`, JSON.stringify(options)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    url = await messageOf<string>(child);
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }
  async function ask(message: object): Promise<Readonly<Record<string, string>>> {
    const answer = messageOf<Readonly<Record<string, string>>>(child);
    child.send(message);
    return answer;
  }

  await start();
  onTestFinished(kill);
  return {
    url,
    levels: () => ask({}),
    set: async (name, level) => void (await ask({ name, level })),
    create: async (name) => void (await ask({ name })),
    signal: (signal) => void child.kill(signal),
    kill,
    restart: async () => {
      await kill();
      await start();
    },
  };
}
