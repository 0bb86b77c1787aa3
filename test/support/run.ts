import { spawn } from "node:child_process";
import { once } from "node:events";

/** How a program ended, and all that it printed. */
export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end without standing in the way of others; ended by force when `timeoutMs` are over. */
export async function run(program: string, args: readonly string[], timeoutMs: number): Promise<Ran> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: Buffer.concat(chunks).toString() };
}
