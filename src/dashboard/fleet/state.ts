import type {
  FleetChange,
  FleetLevel,
  ListInstancesResponse,
  ListLoggerDifferencesResponse,
} from "../../gen/actuator/v3/fleet_pb.ts";
import type { Fault } from "../link/messages.ts";

/** The instances, as the engine knew them last. */
export interface FleetState {
  /** undefined: the engine has not answered yet. */
  readonly latest: ListInstancesResponse | undefined;
  /** When that was received. */
  readonly at: number;
  /** Why the engine does not answer; undefined: it does. */
  readonly unavailable: string | undefined;
  readonly fault: Fault | undefined;
}

/** A level of the fleet. */
export interface LevelRow {
  readonly level: FleetLevel;
  /** How far it has come; undefined: not known. */
  readonly change: FleetChange | undefined;
}

/** The levels of the fleet, as they were read last. */
export interface LevelsState {
  readonly isLoaded: boolean;
  readonly rows: readonly LevelRow[];
  /** How many levels there are besides. */
  readonly more: number;
  readonly fault: Fault | undefined;
}

/** What differs, as it was read last. */
export interface DifferencesState {
  readonly latest: ListLoggerDifferencesResponse | undefined;
  readonly at: number;
  readonly isReading: boolean;
  readonly fault: Fault | undefined;
}
