import {
  type FleetChange,
  type Instance,
  type InstanceStatus,
  InstanceStatus_Status as Status,
} from "../../gen/actuator/v3/fleet_pb.ts";
import { duration, msOfDuration } from "../components/duration.ts";
import { counted } from "../components/number.ts";
import type { FleetState, LevelRow, LevelsState } from "./state.ts";

/** How something is: the words, and how they look. */
export interface Said {
  readonly tone: "ok" | "warn" | "bad" | "unknown";
  readonly words: string;
}

/** The symbol of each tone. */
export const SYMBOLS: Readonly<Record<Said["tone"], string>> = {
  ok: "ui-ok",
  warn: "ui-warning",
  bad: "ui-error",
  unknown: "ui-question",
};

/** How an instance is. */
export function stateOf({ isGone, lag }: Pick<Instance, "isGone" | "lag">): Said {
  if (isGone) return { tone: "bad", words: "gone" };
  if (lag !== undefined) return { tone: "warn", words: `${duration(msOfDuration(lag))} behind` };
  return { tone: "ok", words: "up to date" };
}

const WORDS: Readonly<Record<Status, string>> = {
  [Status.UNSPECIFIED]: "not known",
  [Status.APPLYING]: "applying",
  [Status.APPLIED]: "applied",
  [Status.FAILED]: "failed",
  [Status.OVERRULED]: "overruled",
  [Status.GONE]: "gone",
};

/** How far a change has come in one instance: `overruled by alice`. */
export function statusWords({ status, reason, overruledBy }: InstanceStatus): string {
  const more = reason !== "" ? `: ${reason}` : overruledBy !== "" ? ` by ${overruledBy}` : "";
  return WORDS[status] + more;
}

/** How far a change has come: `3 of 3 applied`. */
export function progressOf(change: FleetChange | undefined): Said {
  if (change === undefined) return { tone: "unknown", words: "not known" };
  const { instances } = change;
  if (instances.length === 0) return { tone: "unknown", words: "no instance matches" };
  const has = (wanted: Status) => instances.some(({ status }) => status === wanted);
  const applied = instances.filter(({ status }) => status === Status.APPLIED).length;
  const tone =
    applied === instances.length
      ? "ok"
      : has(Status.FAILED) || has(Status.OVERRULED) || has(Status.GONE)
        ? "bad"
        : "warn";
  return { tone, words: `${applied} of ${instances.length} applied` };
}

/** The instances that do not have a change. */
export function missing(change: FleetChange | undefined): readonly InstanceStatus[] {
  return change?.instances.filter(({ status }) => status !== Status.APPLIED) ?? [];
}

const UNKNOWN = "Not known whether all instances have what was set";

/** Whether all instances have what was set, in one line, and what is in the way. */
export function headline(
  { latest, unavailable }: Pick<FleetState, "latest" | "unavailable">,
  { isLoaded, rows, more, fault }: LevelsState,
  isConnected: boolean,
): Said & { readonly why: readonly string[] } {
  if (latest === undefined || unavailable !== undefined || !isConnected) {
    const why = isConnected ? [unavailable ?? "The engine has not answered yet."] : ["This page is not connected."];
    return { tone: "unknown", words: UNKNOWN, why };
  }
  const { instances } = latest;
  const faults = new Map<string, string>();
  for (const instance of instances) {
    const { tone, words } = stateOf(instance);
    if (tone !== "ok") faults.set(instance.id, `${instance.id} is ${words}`);
  }
  for (const { level, change } of rows) {
    for (const status of missing(change)) {
      if (status.status === Status.FAILED || status.status === Status.OVERRULED)
        faults.set(status.instance, `${status.instance}: ${level.name} ${statusWords(status)}`);
    }
  }
  const there = instances.length;
  if (faults.size === 0 && !isLoaded) {
    const why = [fault?.message ?? "The levels have not been read yet."];
    return { tone: "unknown", words: UNKNOWN, why };
  }
  const unread = rows.find(({ change }) => change === undefined);
  if (faults.size === 0 && unread !== undefined) {
    const why = [`It could not be read how far ${unread.level.name} has come.`];
    return { tone: "unknown", words: UNKNOWN, why };
  }
  const unseen = more > 0 ? [`Of ${counted(more, "more level")} it was not asked how far they have come.`] : [];
  if (there === 0) return { tone: "unknown", words: "No instance is there", why: [] };
  if (faults.size === 0) {
    const words = there === 1 ? "The one instance has what was set" : `All ${there} instances have what was set`;
    return { tone: "ok", words, why: rows.length === 0 ? ["The fleet has no level."] : unseen };
  }
  const isWaiting = instances.every((each) => stateOf(each).tone !== "bad") && rows.every(isOnItsWay);
  return {
    tone: isWaiting ? "warn" : "bad",
    words: `${there - faults.size} of ${counted(there, "instance")} ${there - faults.size === 1 ? "has" : "have"} what was set`,
    why: [...faults.values(), ...unseen],
  };
}

function isOnItsWay({ change }: LevelRow): boolean {
  return missing(change).every(({ status }) => status === Status.APPLYING);
}
