import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { cliEnv, MAIN } from "./cli-process.ts";

/** Whether there is `script`, which runs a command on a terminal of its own. */
export const scriptFound: boolean = /util-linux/.test(
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "",
);

/** A command on a terminal. */
export interface Typed {
  /** Resolves when the terminal shows this. */
  shows(pattern: RegExp): Promise<void>;
  /** Types text. */
  type(text: string): void;
  ended(): Promise<{ readonly code: number; readonly shown: string }>;
}

/** Types a command line on a terminal, without colours. Killed when the test ends. */
export function typed(args: readonly string[], env: NodeJS.ProcessEnv = {}): Typed {
  const line = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: cliEnv({ TERM: "xterm", NO_COLOR: "1", ...env }),
    stdio: "pipe",
  });
  const closed = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    shown += text;
  });
  return {
    shows: (pattern) => expect.poll(() => shown).toMatch(pattern),
    type: (text) => void child.stdin.write(text),
    async ended() {
      const [code] = await closed;
      return { code, shown: shown.replaceAll("\r\n", "\n") };
    },
  };
}
