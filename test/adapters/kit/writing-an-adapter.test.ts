import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const page = readFileSync(join(root, "docs", "writing-an-adapter.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "connect-actuator-adapter-"));

const PACKAGE: { readonly [specifier: string]: string } = {
  "connect-actuator": join(root, "src", "index.ts"),
  "connect-actuator/adapter": join(root, "src", "adapters", "kit", "index.ts"),
};

/** The files of the page: blocks of code that begin with their name. */
const files = new Map(
  [...page.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n([\s\S]*?)^```$/gm)].map(([, name, code]) => [name!, code!]),
);

/** The programs of the page, each with what it is said to print. */
const programs = [
  ...page.matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n(?:(?!^```).*\n)*```\n\nIt prints:\n\n```text\n([\s\S]*?)^```$/gm),
].map(([, name, printed]) => ({ name: name!, printed: printed! }));

beforeAll(() => {
  for (const [name, code] of files) {
    // As the compiler and the package would resolve them.
    const resolved = code.replaceAll(/from "([^"]+)"/g, (_, from: string) => {
      return `from "${PACKAGE[from] ?? from.replace(/\.js$/, ".ts")}"`;
    });
    writeFileSync(join(folder, name), resolved);
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the page has a program for a logging library and one for a queue", () => {
  expect(programs.map(({ name }) => name)).toEqual(["log-example.ts", "queue-example.ts"]);
});

test.each(programs)("$name prints what the page says", async ({ name, printed }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, name)], { timeout: 60_000 });
  expect(stdout).toBe(printed);
});
