import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { requireVersion } from "../../../src/adapters/kit/library-version.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "connect-actuator-versions-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

/** An application's folder with a library in `node_modules`. */
function application(title: string, library: string, manifest: Record<string, unknown>): string {
  const folder = join(scratch, title, "node_modules", library);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: library, ...manifest }));
  writeFileSync(join(folder, "index.js"), "");
  return join(scratch, title);
}

/** Loads the application's copy of a library, as `require` in its code does. */
function load(folder: string, library: string): void {
  createRequire(join(folder, "main.js"))(library);
}

test("the version that the library's object states decides", () => {
  const pino = { subpath: "pino", library: "pino", versions: "8 to 10" };
  expect(() => requireVersion(pino, "7.11.0")).toThrow(
    expect.objectContaining({
      code: "FAILED_PRECONDITION",
      reason: "UNSUPPORTED_VERSION",
      message: "connect-actuator/pino supports pino 8 to 10, not 7.11.0; update pino.",
      metadata: { library: "pino", version: "7.11.0" },
    }),
  );
  expect(() => requireVersion(pino, "11.0.0-rc.1")).toThrow(
    "connect-actuator/pino supports pino 8 to 10, not 11.0.0-rc.1; update connect-actuator, or use pino 8 to 10.",
  );
  for (const version of ["8.0.0", "9.14.0", "10.99.99"]) requireVersion(pino, version);
});

test.each([
  ["5", "4.9.9", "5.0.0", "5.99.0", "6.0.0"],
  ["4.3 to 4.x", "4.2.9", "4.3.0", "4.99.0", "5.0.0"],
  ["0.10 to 2", "0.9.1", "0.10.0", "2.3.1", "3.0.0"],
])("the versions %s begin after %s and end before the last of these", (versions, older, oldest, newest, newer) => {
  const check = (version: string) => () => requireVersion({ library: "any", versions }, version);
  for (const version of [older, newer]) expect(check(version)).toThrow(`supports any ${versions}, not ${version}`);
  for (const version of [oldest, newest]) expect(check(version)).not.toThrow();
});

test("otherwise the copies decide that the application loaded, and one supported copy is enough", () => {
  const library = "loaded-library";
  const check = () => requireVersion({ subpath: "some", library, versions: "2" });
  const old = application("old", library, { version: "1.4.0" });
  expect(check).not.toThrow();
  load(old, library);
  expect(check).toThrow("connect-actuator/some supports loaded-library 2, not 1.4.0; update loaded-library.");
  load(application("new", library, { version: "2.0.0" }), library);
  expect(check).not.toThrow();
});

test("a library in a scope is found, and one beside it is not taken for it", () => {
  load(application("scoped", "@scope/library-more", { version: "1.0.0" }), "@scope/library-more");
  const check = () => requireVersion({ library: "@scope/library", versions: "2" });
  expect(check).not.toThrow();
  load(application("scoped", "@scope/library", { version: "1.0.0" }), "@scope/library");
  expect(check).toThrow("connect-actuator supports @scope/library 2, not 1.0.0");
});

test("an ES module is found where the main module or the working directory resolves it, without loading it", () => {
  const library = "module-library";
  const check = () => requireVersion({ subpath: "some", library, versions: "2" });
  const folder = application("module", library, { version: "1.0.0", type: "module" });
  vi.spyOn(process, "cwd").mockReturnValue(join(folder, "src"));
  expect(check).toThrow("supports module-library 2, not 1.0.0");
  vi.spyOn(process, "cwd").mockReturnValue(scratch);
  expect(check).not.toThrow();
});

test("a CommonJS library that is installed but not loaded is not what the application uses", () => {
  const folder = application("unused", "unused-library", { version: "1.0.0" });
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  expect(() => requireVersion({ library: "unused-library", versions: "2" })).not.toThrow();
});

test("an unreadable manifest is an unknown version, which is accepted", () => {
  const folder = application("broken", "broken-library", { version: "1.0.0" });
  load(folder, "broken-library");
  writeFileSync(join(folder, "node_modules", "broken-library", "package.json"), "{");
  expect(() => requireVersion({ library: "broken-library", versions: "2" })).not.toThrow();
  expect(() => requireVersion({ library: "broken-library", versions: "2" }, "latest")).not.toThrow();
});
