import { fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { messageOf } from "../support/child-message.ts";

test("a suspended process ends a temporary level as soon as it continues", async () => {
  const child = fork(join(import.meta.dirname, "..", "support", "stopped-child.ts"));
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await messageOf(child)).toBe("ready");
  const ask = (message: "set" | "level") => {
    const answer = messageOf<string>(child);
    child.send(message);
    return answer;
  };
  expect(await ask("set")).toBe("DEBUG");
  child.kill("SIGSTOP");
  // Longer than the level lasts: nothing tells that a stopped process would have had its timer.
  await delay(400);
  child.kill("SIGCONT");
  await expect.poll(() => ask("level")).toBe("none");
});
