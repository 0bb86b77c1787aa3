import { Child } from "./child.ts";
import type { Usage } from "./serve.ts";

/** A server under measurement, in a process of its own. */
export interface Server {
  readonly port: number;
  usage(): Promise<Usage>;
  end(): Promise<void>;
}

/** Starts the module, which calls `serving` when it listens. `profiles` is a directory to write a CPU profile into. */
export async function startServer(module: string, args: readonly string[] = [], profiles?: string): Promise<Server> {
  const execArgv = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const child = new Child(module, { args, execArgv });
  const { port } = await child.next<{ port: number }>();
  return { port, usage: () => child.ask<Usage>({}), end: () => child.end() };
}
