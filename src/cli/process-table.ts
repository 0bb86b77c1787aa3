import { durationToText } from "../common/duration.ts";
import { printable } from "../common/printable.ts";
import type { Origin } from "../processes/description.ts";
import type { ListedProcess } from "../processes/process-list.ts";
import { placeText } from "../processes/socket-name.ts";
import { tableLines } from "./output.ts";

/** Says how to get a process that can be addressed. */
export const NO_PROCESS =
  "no process of this user has an actuator; start one with `node --import connect-actuator/auto app.js`, or add one to a process that runs with `connect-actuator attach <pid>`";

const TITLES = ["PID", "NAME", "VERSION", "UPTIME", "ORIGIN", "SHOWS", "ADDRESS"];

const ORIGINS: Readonly<Record<Origin, string>> = {
  preloaded: "preloaded",
  attached: "attached",
  "created by the application": "own",
};

/** Formats processes as a table. */
export function processLines(processes: readonly ListedProcess[], now = Date.now()): readonly string[] {
  return tableLines(
    TITLES,
    processes.map((process) => cellsOf(process, now).map(printable)),
  );
}

function cellsOf({ description, ...place }: ListedProcess, now: number): string[] {
  if (description === undefined) return [placeText(place), "?", "", "", "", "", ""];
  const { name, version = "", startTime, origin, shows, addresses, clusterWorker } = description;
  const libraries = [...shows.loggers, ...shows.sessions, ...shows.integrationGraph];
  return [
    placeText(place),
    clusterWorker === undefined ? name : `${name} (worker ${clusterWorker})`,
    version,
    durationToText(now - startTime),
    ORIGINS[origin],
    [...new Set(libraries)].join(", ") || "nothing",
    addresses.join(" ") || "socket only",
  ];
}
