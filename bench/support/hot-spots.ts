import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** A directory for CPU profiles when the command line asks for them with `--cpu-prof`. */
export function profileDirectory(): string | undefined {
  return process.argv.includes("--cpu-prof") ? mkdtempSync(join(tmpdir(), "connect-actuator-profile-")) : undefined;
}

/** The parts of a `.cpuprofile` that are read here. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
}

/** Prints the functions that took most of the time by themselves, in the profile that a server left in the directory. */
export function printHotSpots(title: string, directory: string | undefined, count = 20): void {
  if (directory === undefined) return;
  const file = readdirSync(directory).find((name) => name.endsWith(".cpuprofile"));
  const { nodes, samples } = JSON.parse(readFileSync(join(directory, file!), "utf8")) as Profile;
  rmSync(directory, { recursive: true });
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const hits = Map.groupBy(samples, (id) => places.get(id)!);
  hits.delete("(idle)");
  const total = [...hits.values()].reduce((sum, samples) => sum + samples.length, 0);
  const top = [...hits].toSorted(([, a], [, b]) => b.length - a.length).slice(0, count);
  console.log(`\n${title}: own time`);
  for (const [place, samples] of top)
    console.log(`${((100 * samples.length) / total).toFixed(1).padStart(6)} %  ${place}`);
}

function placeOf({ functionName, url, lineNumber }: Profile["nodes"][number]["callFrame"]): string {
  if (url === "") return functionName;
  const file = url.startsWith("file://") ? relative(process.cwd(), url.slice("file://".length)) : url;
  return `${functionName || "(anonymous)"}  ${file}:${lineNumber + 1}`;
}
