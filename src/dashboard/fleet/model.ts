import { signal } from "@preact/signals";
import type {
  FleetChange,
  FleetLevel,
  ListInstancesResponse,
  ListLoggerDifferencesResponse,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { CallError } from "../link/link.ts";
import type { Fault } from "../link/messages.ts";
import { link, onLink } from "../state/server.ts";

/** How many levels show how far they have come. */
const MAX_FOLLOWED = 50;
const RETRY_MS = 2_000;
/** How often the instances are asked what differs, unless a level of the fleet has changed. */
const DIFFERENCES_MS = 15_000;

/** A level of the fleet, and how far it has come; undefined: not known. */
export interface FollowedLevel {
  readonly level: FleetLevel;
  readonly change: FleetChange | undefined;
}

/** The fleet, as the server last told it. */
export const fleet = signal<ListInstancesResponse | undefined>(undefined);
/** Why its engine does not answer; undefined: it does. */
export const unavailable = signal<string | undefined>(undefined);
/** Why nothing is told. */
export const fault = signal<Fault | undefined>(undefined);
/** The levels of the fleet; undefined: not read yet. */
export const levels = signal<readonly FollowedLevel[] | undefined>(undefined);
/** What differs between the instances; undefined: not read yet. */
export const differences = signal<ListLoggerDifferencesResponse | Fault | undefined>(undefined);

let users = 0;
let end = () => {};

/** Follows the fleet until the returned function is called. */
export function watchFleet(): () => void {
  users += 1;
  if (users === 1) begin();
  return () => {
    users -= 1;
    if (users === 0) end();
  };
}

/** Reads what differs now. */
export async function readDifferences(): Promise<void> {
  const asked = link;
  try {
    const found = await asked.call("fleet", "listLoggerDifferences", {});
    if (asked === link) differences.value = found;
  } catch (error) {
    if (asked === link && error instanceof CallError) differences.value = error.fault;
  }
}

function begin(): void {
  const followed = link;
  let isOver = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let stop = () => {};
  let generation = -1n;
  const every = setInterval(() => document.hidden || void readDifferences(), DIFFERENCES_MS);
  open();
  void readDifferences();
  end = () => {
    isOver = true;
    clearTimeout(retry);
    clearInterval(every);
    stop();
  };

  function open(): void {
    stop = followed.stream(
      "fleet",
      "watchInstances",
      {},
      {
        message({ event }) {
          if (isOver) return;
          fault.value = undefined;
          if (event.case === "unavailable") unavailable.value = event.value.message;
          if (event.case !== "instances") return;
          unavailable.value = undefined;
          fleet.value = event.value;
          void readLevels();
          if (event.value.generation !== generation && generation !== -1n) void readDifferences();
          generation = event.value.generation;
        },
        end(reason) {
          if (isOver) return;
          fault.value = reason;
          retry = setTimeout(open, RETRY_MS);
        },
      },
    );
  }
}

let isReading = false;
let isDue = false;

/** Reads the levels, and how far each has come. One at a time. */
async function readLevels(): Promise<void> {
  isDue = isReading;
  if (isReading) return;
  isReading = true;
  const asked = link;
  try {
    const { levels: found } = await asked.call("fleet", "listFleetLevels", {});
    const followed = await Promise.all(
      found.map(async (level, at): Promise<FollowedLevel> => {
        if (at >= MAX_FOLLOWED) return { level, change: undefined };
        const answer = await asked
          .call("fleet", "getFleetChange", { generation: level.generation })
          .catch(() => undefined);
        return { level, change: answer?.change };
      }),
    );
    if (asked === link) levels.value = followed;
  } catch (error) {
    // While the engine is away, the levels of before stay.
    if (!(error instanceof CallError)) throw error;
  } finally {
    isReading = false;
    if (isDue) void readLevels();
  }
}

onLink(() => {
  if (users === 0) return;
  end();
  for (const each of [fleet, unavailable, fault, levels, differences]) each.value = undefined;
  begin();
});
