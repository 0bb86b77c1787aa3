import { spawnSync } from "node:child_process";

/** What `go mod download` tells of a module. */
export interface GoModule {
  readonly version: string;
  /** Where its files are, read-only. */
  readonly directory: string;
}

/** The first of the versions that the module proxy, or Go's own cache, has; undefined without Go or without any. */
export function goModule(path: string, versions: readonly string[]): GoModule | undefined {
  for (const version of versions) {
    const { stdout, status } = spawnSync("go", ["mod", "download", "-json", `${path}@${version}`], {
      encoding: "utf8",
    });
    if (status === 0) return { version, directory: JSON.parse(stdout).Dir };
  }
  return undefined;
}
