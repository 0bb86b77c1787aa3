// @module-tag slow
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Loggers } from "../../src/loggers/loggers.ts";
import { decodeState, type StoredLevel, type StoredState } from "../../src/loggers/stored-state.ts";
import { type StateFolder, stateFolder } from "../support/state-folder.ts";
import { GROUPS, MARKER, randomFrom, takeStep } from "../support/state-steps.ts";

const KILLS = 64;
const LANES = 4;
const child = join(import.meta.dirname, "../support/state-kill-child.ts");

test("a kill at any moment leaves a whole state, no older than what was acknowledged", async () => {
  // The same steps every time; when a kill comes, the machine decides.
  const seed = Number(process.env.STATE_KILL_SEED ?? 1);
  console.info(`STATE_KILL_SEED=${seed} repeats the steps`);
  const lanes = Array.from({ length: LANES }, (_, index) => killAgainAndAgain(seed + index, KILLS / LANES));
  const results = await Promise.all(lanes);
  const [steps, amid] = [0, 1].map((at) => results.reduce((sum, result) => sum + result[at]!, 0));
  console.info(`${KILLS} kills, ${amid} of them during a write, in ${steps} steps that were stored`);
});

/** Answers how many steps there were in the end, and how many kills left a temporary file. */
async function killAgainAndAgain(seed: number, kills: number): Promise<[steps: number, amid: number]> {
  const random = randomFrom(seed);
  const [at, beside] = [stateFolder(), stateFolder()];
  onTestFinished(() => {
    at.remove();
    beside.remove();
  });
  const reference = new Loggers({ state: beside.path, groups: GROUPS });
  let reached = 0;
  for (let kill = 0; kill < kills; kill++) {
    const acknowledged = await killOnce(at, seed, random);
    const context = `STATE_KILL_SEED=${seed}, kill ${kill}`;
    expect(
      at.names().filter((name) => !/^levels\.json(\.[0-9a-f]{12}\.tmp)?$/.test(name)),
      context,
    ).toEqual([]);
    if (!existsSync(at.path)) {
      expect(acknowledged, context).toBe(0);
      continue;
    }
    const state = stateIn(at);
    const steps = Number(state.loggers.find(({ name }) => name === MARKER)!.lasting!.override.reason);
    expect(steps, context).toBeGreaterThanOrEqual(Math.max(acknowledged, reached));
    while (reached < steps) takeStep(reference, seed, ++reached);
    await reference.flushed();
    expect(comparable(state), context).toEqual(comparable(stateIn(beside)));
  }
  reference.close();
  return [reached, at.names().length - 1];
}

/** Starts a process, kills it at some moment, and answers the last step that it acknowledged. */
async function killOnce({ path }: StateFolder, seed: number, random: () => number): Promise<number> {
  const process = fork(child, [path, `${seed}`], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const ended = Promise.all([once(process, "disconnect"), once(process, "close")]);
  let acknowledged = 0;
  let complaints = "";
  process.on("message", (step) => (acknowledged = Math.max(acknowledged, step as number)));
  process.stderr!.on("data", (data) => (complaints += data));
  // Some are killed while they start, the others while they are at it.
  if (random() < 0.1) await setTimeout(random() * 200);
  else {
    await Promise.race([once(process, "message"), ended]);
    await setTimeout(random() * 30);
  }
  process.kill("SIGKILL");
  await ended;
  expect({ signal: process.signalCode, complaints }).toEqual({ signal: "SIGKILL", complaints: "" });
  return acknowledged;
}

function stateIn({ path }: StateFolder): StoredState {
  return decodeState(readFileSync(path));
}

/** Without what differs from process to process: the order, the times and the process. */
function comparable({ loggers, groups, prefixes }: StoredState): unknown {
  const setting = (stored: StoredLevel["lasting"]) => stored && `${stored.level} ${stored.override.reason}`;
  const entries = (levels: readonly StoredLevel[]) =>
    Object.fromEntries(
      levels.map(({ name, lasting, temporary }) => [name, [setting(lasting), setting(temporary)]] as const),
    );
  return [loggers, groups, prefixes].map(entries);
}
