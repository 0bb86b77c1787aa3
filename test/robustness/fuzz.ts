import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../support/child-message.ts";
import { TRUNCATED } from "../support/server-hostile-inputs.ts";
import { attack, type Ports } from "./attack.ts";
import { type CanaryResult, canary } from "./canary.ts";
import { type FuzzInput, fuzzInput } from "./fuzz-inputs.ts";
import type { Held } from "./fuzz-server.ts";
import { BODIED } from "./http1-inputs.ts";

/** A run: so many inputs, from this seed. */
export interface FuzzRun {
  readonly seed: number;
  readonly inputs: number;
}

/** What a run found. */
export interface FuzzResult {
  readonly seconds: number;
  readonly canary: CanaryResult;
  /** What the server held before the first attack, after half of them, and when all clients are gone. */
  readonly start: Held;
  readonly middle: Held;
  readonly end: Held;
  /** The server's longest time without a turn in between. */
  readonly stall: Held["stall"];
  /** Everything that was reported in between. */
  readonly reports: readonly string[];
  /** Kinds of input whose connection the server left open though its client did nothing more, with their numbers. */
  readonly lingering: ReadonlyMap<string, number>;
  /** How many inputs there were of each kind. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Loggers that only a request read wrongly could have made. */
  readonly forged: readonly string[];
}

const AT_A_TIME = 48;
const SETTLE_MS = 60_000;

/** Attacks a server of its own, see fuzz-server.ts. Rejects where its process ends or the canary gets a wrong answer. */
export async function fuzz({ seed, inputs }: FuzzRun): Promise<FuzzResult> {
  const child = fork(join(import.meta.dirname, "fuzz-server.ts"), {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr!.on("data", (chunk) => (errors = (errors + chunk).slice(-20_000)));
  const recent: FuzzInput[] = [];
  const death = new AbortController();
  child.once("exit", (code, signal) => {
    const kinds = recent.map(({ kind, over }) => `${kind} (${over})`).join(", ");
    death.abort(new Error(`the process ended with ${code ?? signal}; seed ${seed}; last inputs: ${kinds}\n${errors}`));
  });
  const over = new AbortController();

  async function tell(): Promise<Held> {
    child.send("tell");
    const [held] = await once(child, "message", { signal: death.signal }).catch(() => {
      throw death.signal.reason;
    });
    return held;
  }

  try {
    const ports = await messageOf<Ports>(child);
    // One round of everything, so that what is loaded and compiled once counts for the start.
    await canary(ports, AbortSignal.timeout(500));
    const start = await settled(tell);

    const bird = canary(ports, over.signal);
    // What ends the process ends the canary too, and is what is worth telling.
    bird.catch((error) => setTimeout(() => death.abort(error), 500));
    const lingering = new Map<string, number>();
    const kinds = new Map<string, number>();
    const began = performance.now();
    let sent = 0;
    const reports: string[] = [];
    async function attackUntil(last: number): Promise<Held> {
      await Promise.all(
        Array.from({ length: AT_A_TIME }, async () => {
          while (sent < last && !death.signal.aborted) {
            const index = sent++;
            const input = fuzzInput(seed, index);
            if (recent.push(input) > AT_A_TIME) recent.shift();
            kinds.set(input.kind, (kinds.get(input.kind) ?? 0) + 1);
            if (!(await attack(ports, input, index))) lingering.set(input.kind, (lingering.get(input.kind) ?? 0) + 1);
          }
        }),
      );
      death.signal.throwIfAborted();
      const held = await tell();
      reports.push(...held.reports);
      return held;
    }
    const middle = await attackUntil(inputs / 2);
    const last = await attackUntil(inputs);
    const seconds = (performance.now() - began) / 1_000;
    over.abort();
    const canaryResult = await bird;
    const forged: string[] = [];
    for (const name of [TRUNCATED, BODIED]) {
      const { status } = await fetch(`http://127.0.0.1:${ports.port}/actuator/loggers/${name}`);
      if (status !== 404) forged.push(name);
    }
    const end = await settled(tell, reports);
    const stall = middle.stall.ms > last.stall.ms ? middle.stall : last.stall;
    return { seconds, canary: canaryResult, start, middle, end, stall, reports, lingering, kinds, forged };
  } finally {
    over.abort();
    child.kill("SIGKILL");
  }
}

/** What the server still holds when no client is connected any more, or after a minute. */
async function settled(tell: () => Promise<Held>, reports: string[] = []): Promise<Held> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const held = await tell();
    reports.push(...held.reports);
    const open = held.connections + held.sessions + held.streams + held.watchers;
    if (open === 0 || performance.now() > end) return held;
    await delay(100);
  }
}
