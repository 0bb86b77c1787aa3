import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openRuntimeFolder } from "../../src/processes/runtime-folder.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("the first folder that this user alone can enter is taken, and made", () => {
  const folder = newFolder();
  const [open, file, good] = ["open", "file", "good"].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(open);
  chmodSync(open, 0o755);
  writeFileSync(file, "");
  expect(openRuntimeFolder([join(folder, "a", "b"), open, file, good])).toBe(good);
  expect(statSync(good).mode & 0o777).toBe(0o700);
});

test("a folder with a name too long for a socket is passed over", () => {
  const folder = newFolder();
  expect(openRuntimeFolder([join(folder, "x".repeat(100)), join(folder, "short")])).toBe(join(folder, "short"));
});

test("if none can be used, the error says why for each", () => {
  const folder = newFolder();
  const [long, missing] = [join(folder, "x".repeat(100)), join(folder, "a", "b")];
  const message = `no folder for the socket of this process: ${long} is too long for the path of a socket; ${missing}: ENOENT; set CONNECT_ACTUATOR_RUNTIME_DIR to a folder of this user`;
  expect(() => openRuntimeFolder([long, missing])).toThrow(message);
});
