import { signal } from "@preact/signals";
import type { FleetLevel, ListInstancesResponse } from "../../gen/actuator/v3/fleet_pb.ts";
import { faultOf } from "../components/call-fault.ts";
import { link, onLink } from "../state/server.ts";
import type { DifferencesState, FleetState, LevelRow, LevelsState } from "./state.ts";

const NO_FLEET: FleetState = { latest: undefined, at: 0, unavailable: undefined, fault: undefined };
const NO_LEVELS: LevelsState = { isLoaded: false, rows: [], more: 0, fault: undefined };
const NO_DIFFERENCES: DifferencesState = { latest: undefined, at: 0, isReading: false, fault: undefined };

export const fleet = signal(NO_FLEET);
export const levels = signal(NO_LEVELS);
export const differences = signal(NO_DIFFERENCES);

/** Each costs one call whenever something has changed. */
const MAX_ROWS = 30;
/** A level that an instance alone has overruled changes no generation. */
const REREAD_MS = 5_000;

let stop: (() => void) | undefined;
let read = { progress: "", at: 0 };
let isReading = false;
let isDue = false;

/** Follows the fleet until the returned function is called. */
export function watchFleet(): () => void {
  begin();
  return () => {
    stop?.();
    stop = undefined;
  };
}

function begin(): void {
  const followed = link;
  stop?.();
  fleet.value = NO_FLEET;
  levels.value = NO_LEVELS;
  differences.value = NO_DIFFERENCES;
  read = { progress: "", at: 0 };
  stop = followed.watch("fleet", {
    message({ event }) {
      if (followed !== link) return;
      if (event.case === "unavailable") fleet.value = { ...fleet.value, unavailable: event.value.message };
      if (event.case !== "instances") return;
      const wasAway = fleet.value.unavailable !== undefined;
      fleet.value = { latest: event.value, at: Date.now(), unavailable: undefined, fault: undefined };
      const progress = progressOf(event.value);
      if (!wasAway && progress === read.progress && Date.now() - read.at < REREAD_MS) return;
      if (progress !== read.progress) void compare();
      read = { progress, at: Date.now() };
      void readLevels();
    },
    end(fault) {
      if (followed === link) fleet.value = { ...fleet.value, fault };
    },
  });
}

onLink(() => {
  if (stop !== undefined) begin();
});

/** What changes when an instance has applied something. */
function progressOf({ generation, instances }: ListInstancesResponse): string {
  return [generation, ...instances.map(({ id, generation: own, isGone }) => `${id} ${own} ${isGone}`)].join();
}

/** Reads the levels and how far each has come. A call while another one is under way makes that one begin again. */
export async function readLevels(): Promise<void> {
  isDue = true;
  if (isReading) return;
  isReading = true;
  while (isDue) {
    isDue = false;
    const asked = link;
    const next = await levelsNow();
    if (asked === link) levels.value = next;
  }
  isReading = false;
}

async function levelsNow(): Promise<LevelsState> {
  try {
    const { levels: all } = await link.call("fleet", "listFleetLevels", {});
    const rows = await Promise.all(all.slice(0, MAX_ROWS).map(withProgress));
    return { isLoaded: true, rows, more: all.length - rows.length, fault: undefined };
  } catch (error) {
    return { ...levels.peek(), fault: faultOf(error) };
  }
}

async function withProgress(level: FleetLevel): Promise<LevelRow> {
  const { generation } = level;
  // It may have been replaced in the meantime.
  const answer = await link.call("fleet", "getFleetChange", { generation }).catch(() => undefined);
  return { level, change: answer?.change };
}

/** Asks all instances which loggers differ. */
export async function compare(): Promise<void> {
  if (differences.peek().isReading) return;
  const asked = link;
  differences.value = { ...differences.peek(), isReading: true };
  const next = await asked.call("fleet", "listLoggerDifferences", {}).then(
    (latest) => ({ latest, at: Date.now(), isReading: false, fault: undefined }),
    (error) => ({ ...differences.peek(), isReading: false, fault: faultOf(error) }),
  );
  if (asked === link) differences.value = next;
}
