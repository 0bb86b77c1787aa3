import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { sharedIdKey } from "../../src/processes/id-key.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "key-"));
  onTestFinished(() => {
    chmodSync(made, 0o700);
    rmSync(made, { recursive: true });
  });
  return made;
}

test("the key stays the same, and only its user can read it", () => {
  const place = folder();
  const key = sharedIdKey(place);
  expect(key).toHaveLength(32);
  expect(sharedIdKey(place)).toEqual(key);
  expect(readdirSync(place)).toEqual(["key"]);
  expect(statSync(join(place, "key")).mode & 0o777).toBe(0o600);
});

test("threads and processes that begin at the same moment agree on one key", async () => {
  const place = folder();
  const module = new URL("../../src/processes/id-key.ts", import.meta.url).href;
  const code = `import(${JSON.stringify(module)}).then(({ sharedIdKey }) =>
    require("node:worker_threads").parentPort.postMessage(sharedIdKey(${JSON.stringify(place)}).toString("hex")))`;
  const workers = Array.from({ length: 6 }, () => new Worker(code, { eval: true }));
  const keys = await Promise.all(
    workers.map((worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))),
  );
  expect(new Set(keys).size).toBe(1);
  expect(readdirSync(place)).toEqual(["key"]);
});

test("without a place for it, or with something else there, the key is a new one each time", () => {
  const place = folder();
  expect(sharedIdKey(join(place, "missing"))).not.toEqual(sharedIdKey(join(place, "missing")));
  writeFileSync(join(place, "key"), "not a key");
  expect(sharedIdKey(place)).not.toEqual(sharedIdKey(place));
  expect(readdirSync(place)).toEqual(["key"]);
});
