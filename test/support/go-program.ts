import { spawnSync } from "node:child_process";

/** What `go mod download` tells of a module. */
export interface GoModule {
  readonly version: string;
  /** Where its files are, read-only. */
  readonly directory: string;
}

/** A module that the module proxy, or Go's own cache, has; undefined without it or without Go. */
export function goModule(path: string, version: string): GoModule | undefined {
  const { stdout, status } = spawnSync("go", ["mod", "download", "-json", `${path}@${version}`], { encoding: "utf8" });
  return status === 0 ? { version, directory: JSON.parse(stdout).Dir } : undefined;
}
