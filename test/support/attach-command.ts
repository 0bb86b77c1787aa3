import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { listeningPorts } from "../../src/attach/listening-ports.ts";
import {
  type ApplicationFolder,
  type RunningApplication,
  type RunOptions,
  runApplication,
} from "./auto-application.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** Runs an application without the preload, whose inspector would take any free port. */
export function runPlain(folder: ApplicationFolder, script: string, options: RunOptions = {}): RunningApplication {
  const nodeArgs = ["--inspect-port=0", ...(options.nodeArgs ?? [])];
  return runApplication(folder, script, { ...options, nodeArgs, preload: false });
}

/** A command that runs or has run. */
export interface AttachCommand {
  readonly child: ChildProcess;
  /** What it has written, and its exit code, when it has ended. */
  readonly ended: Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }>;
}

/** Starts `connect-actuator attach`. */
export function startAttach({ env }: ApplicationFolder, pid: number, ...words: readonly string[]): AttachCommand {
  const child = spawn(process.execPath, [MAIN, "attach", `${pid}`, ...words], { env, stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += chunk));
  child.stderr.on("data", (chunk) => (output.stderr += chunk));
  return { child, ended: once(child, "close").then(([code]) => ({ ...output, code: code as number | null })) };
}

/** Runs `connect-actuator attach` until it ends. */
export function attachTo(folder: ApplicationFolder, pid: number, ...words: readonly string[]): AttachCommand["ended"] {
  return startAttach(folder, pid, ...words).ended;
}

/** Whether the inspector of a process is open that listens at no port of its own. */
export function isInspectorOpen({ child }: RunningApplication): boolean {
  return listeningPorts(child.pid!).length > 0;
}
