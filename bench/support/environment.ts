import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, type } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/**
 * One line that says where figures were taken: processor, system, Node.js and the versions of the libraries named. The
 * load is there because a busy machine makes absolute figures worthless, and ratios only less sharp.
 */
export function environment(...libraries: string[]): string {
  const processors = cpus();
  const machine = `${processors[0]?.model.trim() ?? arch()} × ${processors.length}`;
  const versions = libraries.map((name) => `${name} ${versionOf(name)}`);
  const load = `load ${loadavg()[0]!.toFixed(1)}`;
  return [machine, `${type()} ${release()}`, `Node.js ${process.version}`, ...versions, load].join(", ");
}

function versionOf(library: string): string {
  return JSON.parse(readFileSync(join(root, "node_modules", library, "package.json"), "utf8")).version;
}
