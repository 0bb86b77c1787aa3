import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

/** Where two servers leave their CPU profiles. */
export interface Profiles {
  readonly subject: string;
  readonly beside: string;
}

/** Directories for CPU profiles when the command line asks for them with `--cpu-prof`. */
export function profileDirectories(): Profiles | undefined {
  if (!process.argv.includes("--cpu-prof")) return undefined;
  const directory = () => mkdtempSync(join(tmpdir(), "connect-actuator-profile-"));
  return { subject: directory(), beside: directory() };
}

/** The parts of a `.cpuprofile` that are read here. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
}

/** Where the time of a server went, in percent of its busy time, by function. */
type OwnTime = ReadonlyMap<string, number>;

/**
 * Prints the functions that took most time by themselves in the subject, beside what they took in the other server. Both
 * are profiled, so that both pay for it.
 */
export function printHotSpots(title: string, profiles: Profiles | undefined, count = 20): void {
  if (profiles === undefined) return;
  const [subject, beside] = [ownTime(profiles.subject), ownTime(profiles.beside)];
  const top = [...subject].toSorted(([, a], [, b]) => b - a).slice(0, count);
  console.log(`\n${title}: own time in %, and beside`);
  for (const [place, share] of top) {
    console.log(`${share.toFixed(1).padStart(6)} ${(beside.get(place) ?? 0).toFixed(1).padStart(6)}  ${place}`);
  }
}

function ownTime(directory: string): OwnTime {
  const file = readdirSync(directory).find((name) => name.endsWith(".cpuprofile"));
  const { nodes, samples } = JSON.parse(readFileSync(join(directory, file!), "utf8")) as Profile;
  rmSync(directory, { recursive: true });
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const hits = Map.groupBy(samples, (id) => places.get(id)!);
  hits.delete("(idle)");
  const total = [...hits.values()].reduce((sum, { length }) => sum + length, 0);
  return new Map([...hits].map(([place, { length }]) => [place, (100 * length) / total]));
}

function placeOf({ functionName, url, lineNumber }: Profile["nodes"][number]["callFrame"]): string {
  if (url === "") return functionName;
  const file = url.startsWith("file://") ? relative(process.cwd(), url.slice("file://".length)) : url;
  return `${functionName || "(anonymous)"}  ${file}:${lineNumber + 1}`;
}
