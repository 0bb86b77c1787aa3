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

  test("takes actions of others by their commit, which cannot be moved as a tag can", () => {
    const used = [...text.matchAll(/\buses: (.+)/g)].map(([, action]) => action!);
    expect(used.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test("has no right that a job does not ask for", () => {
    expect(text).toMatch(/^permissions: \{\}$/m);
    expect(jobs.length).toBeGreaterThan(0);
    for (const job of jobs) expect(job).toContain("    permissions:\n");
  });

  test("runs nothing of the repository or of its dependencies where something may be written", () => {
    for (const job of jobs.filter((job) => /: write/.test(job))) {
      expect(job).not.toMatch(/actions\/checkout|npm (?:ci|install|run|test|exec)|\bnpx\b/);
    }
  });
});
