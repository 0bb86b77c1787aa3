import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed, run } from "./command.ts";

/** The commit that the protobuf interface must stay compatible with, and how to call it to a reader. */
export interface Base {
  readonly commit: string;
  readonly name: string;
}

/**
 * What `buf breaking` compares with: `origin/main` on a branch, the parent commit on main itself. `undefined` where
 * there is neither: the first commit, or a clone of depth 1.
 */
export function compatibilityBase(): Base | undefined {
  const head = commit("HEAD");
  const main = commit("origin/main");
  if (main !== undefined && main !== head) return { commit: main, name: `origin/main (${main.slice(0, 8)})` };
  const parent = commit("HEAD~1");
  if (parent !== undefined) return { commit: parent, name: `the parent commit (${parent.slice(0, 8)})` };
  return undefined;
}

/** Puts the protobuf files of a commit into `directory` and answers it, or `undefined` when the commit has none. */
export function extractProtos(commit: string, directory: string): string | undefined {
  if (run("git", "ls-tree", commit, "--", "proto") === "") return undefined;
  mkdirSync(directory);
  const archive = join(directory, "base.tar");
  run("git", "archive", "--output", archive, commit, "--", "proto", "buf.yaml");
  run("tar", "-xf", archive, "-C", directory);
  return directory;
}

function commit(name: string): string | undefined {
  try {
    return run("git", "rev-parse", "--verify", "--quiet", `${name}^{commit}`);
  } catch (error) {
    if (error instanceof CommandFailed) return undefined;
    throw error;
  }
}
