import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of its own on the disk, and the path of a state file in it. */
export interface StateFolder {
  readonly folder: string;
  readonly path: string;
  /** The names in the folder. */
  names(): string[];
  remove(): void;
}

export function stateFolder(): StateFolder {
  const folder = mkdtempSync(join(tmpdir(), "connect-actuator-state-"));
  return {
    folder,
    path: join(folder, "levels.json"),
    names: () => readdirSync(folder).sort(),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
