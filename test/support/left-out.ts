/**
 * Says at the beginning which tests run, and at the end which were left out, why, and how to run them: a skipped test must not
 * be taken for one that passed.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const root = join(import.meta.dirname, "..", "..");

/** The files that are slow as a whole: `// @module-tag slow` at the top. Vitest would start a process for each, only to skip its tests. */
export function slowFiles(): string[] {
  const files = globSync("test/**/*.test.ts", { cwd: root });
  return files.filter((file) => /^\/\/ @module-tag slow$/m.test(readFileSync(join(root, file), "utf8"))).sort();
}

/** How `requirement` reports a tool that is not installed. */
export const MISSING = /^missing: (?<tool>.+)$/m;

export class LeftOutReporter implements Reporter {
  readonly #slowFiles: readonly string[];
  readonly #missing = new Set<string>();

  /** @param slowFiles The files that this run excludes; none if it runs every test. */
  constructor(slowFiles: readonly string[]) {
    this.#slowFiles = slowFiles;
  }

  onInit(): void {
    const what =
      this.#slowFiles.length > 0
        ? "Running the fast tests; npm run test:all also runs the slow ones."
        : "Running every test whose server or tool is installed.";
    console.log(`${what}\n`);
  }

  onUserConsoleLog(log: { readonly content: string }): void {
    const tool = MISSING.exec(log.content)?.groups?.tool;
    if (tool !== undefined) this.#missing.add(tool);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    const slow = tests.filter(({ tags }) => tags.includes("slow")).length;
    const lines = [
      ...(this.#slowFiles.length > 0
        ? [
            `${this.#slowFiles.length} files${slow > 0 ? ` and ${slow} single tests` : ""} of slow tests. ` +
              "To run them: npm run test:all",
          ]
        : []),
      ...(this.#missing.size > 0
        ? [
            `${tests.length - slow} tests that need ${[...this.#missing].sort().join(", ")}. To run them, install these, or ` +
              "run bash .ci/run, which installs everything on Debian",
          ]
        : []),
    ];
    if (lines.length > 0) console.log(["\nLeft out:", ...lines.map((line) => `  ${line}`)].join("\n"));
  }
}
