import { computed, signal } from "@preact/signals";
import { type WatchedChange, WatchedLoggers } from "../../client/watched-loggers.ts";
import type { Logger, LoggerGroup } from "../../gen/actuator/v3/loggers_pb.ts";
import type { Fault } from "../link/messages.ts";
import { fleetOf, link, onLink } from "./server.ts";

/** The loggers, kept current by a watch. */
export interface LoggersState {
  /** False until the first whole snapshot. */
  readonly isLoaded: boolean;
  readonly loggers: ReadonlyMap<string, Logger>;
  readonly groups: ReadonlyMap<string, LoggerGroup>;
  readonly revision: bigint;
  /** Why there are none, such as a missing permission. */
  readonly fault: Fault | undefined;
}

/** A new object with each whole event; the maps within are the same ones, changed in place. */
export const loggers = signal<LoggersState>({
  isLoaded: false,
  loggers: new Map(),
  groups: new Map(),
  revision: 0n,
  fault: undefined,
});

const listeners = new Set<(change: WatchedChange) => void>();

/** Calls `listener` with each whole change until the returned function is called. */
export function onLoggersChange(listener: (change: WatchedChange) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The loggers and groups whose level an operator has changed, those that expire first before the others. */
export const changed = computed(() => {
  const { loggers: all, groups } = loggers.value;
  const found: (Logger | LoggerGroup)[] = [];
  for (const logger of all.values()) if (logger.override !== undefined) found.push(logger);
  for (const group of groups.values()) if (group.override !== undefined) found.push(group);
  return found.sort((a, b) => expiryOf(a) - expiryOf(b) || (a.name < b.name ? -1 : 1));
});

/**
 * Whether the application only reads its fleet and has no loggers of its own, as `connect-actuator serve`: levels are changed for the fleet
 * there.
 */
export const isFleetReader = computed(() => {
  if (fleetOf.value?.isMember !== false || !loggers.value.isLoaded) return false;
  for (const { kind } of loggers.value.loggers.values()) if (kind !== "") return false;
  return true;
});

function expiryOf({ override }: Logger | LoggerGroup): number {
  const { expireTime } = override!;
  return expireTime === undefined
    ? Number.POSITIVE_INFINITY
    : Number(expireTime.seconds) * 1_000 + expireTime.nanos / 1e6;
}

onLink(() => {
  const watched = new WatchedLoggers();
  const followed = link;
  const show = (fault: Fault | undefined, revision: bigint) => {
    loggers.value = {
      isLoaded: fault === undefined,
      loggers: watched.loggers,
      groups: watched.groups,
      revision,
      fault,
    };
  };
  followed.watch("loggers", {
    message(event) {
      if (followed !== link) return;
      const change = watched.apply(event);
      if (change === undefined) return;
      show(undefined, change.revision);
      for (const listener of listeners) listener(change);
    },
    end: (fault) => followed === link && show(fault, 0n),
  });
});
