import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const files = globSync(".github/workflows/*.yml", { cwd: root });

test("there are workflows for pull requests and for releases", () => {
  expect(files.map((file) => basename(file)).sort()).toEqual(["publish.yml", "pull-request.yml"]);
});

describe.each(files)("%s", (file) => {
  const text = readFileSync(join(root, file), "utf8");
  const jobs = text
    .slice(text.indexOf("\njobs:\n"))
    .split(/^ {2}(?=[\w-]+:$)/m)
    .slice(1);

  test("pins actions to a commit, since a tag can be moved", () => {
    const used = [...text.matchAll(/\buses: (.+)/g)].map(([, action]) => action!);
    expect(used.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test("grants a job only the permissions that it lists", () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    expect(jobs.length).toBeGreaterThan(0);
    for (const job of jobs) expect(job).toContain("    permissions:\n");
  });

  test("runs no code of the repository or its dependencies in a job that may write", () => {
    for (const job of jobs.filter((job) => /: write/.test(job))) {
      expect(job).not.toMatch(/actions\/checkout|npm (?:ci|install|run|test|exec)|\bnpx\b/);
    }
  });
});

test("a pull request runs the checks, what a newcomer runs, and every test", () => {
  const text = readFileSync(join(root, ".github/workflows/pull-request.yml"), "utf8");
  for (const command of ["npm run check", "npm test", "bash .ci/run"]) expect(text).toContain(`- run: ${command}\n`);
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toContain("npm run test:all");
});
