import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

test("a process that stood still gives a temporary level back as soon as it goes on", async () => {
  const child = fork(join(import.meta.dirname, "..", "support", "stopped-child.ts"));
  onTestFinished(() => void child.kill("SIGKILL"));
  expect((await once(child, "message"))[0]).toBe("ready");
  const ask = async () => {
    child.send("level");
    return ((await once(child, "message")) as [string])[0];
  };
  expect(await ask()).toBe("DEBUG");
  child.kill("SIGSTOP");
  // Longer than the level lasts: nothing tells that a stopped process would have had its timer.
  await delay(400);
  child.kill("SIGCONT");
  await expect.poll(ask).toBe("none");
});
