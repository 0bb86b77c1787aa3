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

/** What did not take effect in an instance. */
interface LevelFault {
  readonly status: InstanceStatus;
  /** The level: that of `shop.orders`. */
  readonly name: string;
}

/** Which levels failed or were overruled, by instance. */
export function faultsOf(rows: readonly LevelRow[]): ReadonlyMap<string, readonly LevelFault[]> {
  const faults = new Map<string, LevelFault[]>();
  for (const { level, change } of rows) {
    for (const status of missing(change)) {
      if (status.status !== Status.FAILED && status.status !== Status.OVERRULED) continue;
      const found = faults.get(status.instance) ?? [];
      faults.set(status.instance, [...found, { status, name: level.name }]);
    }
  }
  return faults;
}

/** How an instance is, `elapsedMs` after it was received. */
export function stateOf(
  { isGone, lag }: Pick<Instance, "isGone" | "lag">,
  faults: readonly LevelFault[] = [],
  elapsedMs = 0,
): Said {
  if (isGone) return { tone: "bad", words: "gone" };
  if (lag !== undefined) {
    const ms = msOfDuration(lag) + elapsedMs;
    return { tone: "warn", words: ms < 1_000 ? "applying" : `${duration(ms)} behind` };
  }
  const failed = faults.filter(({ status }) => status.status === Status.FAILED).length;
  if (failed > 0) return { tone: "bad", words: `${counted(failed, "level")} failed` };
  if (faults.length > 0) return { tone: "warn", words: `${counted(faults.length, "level")} overruled` };
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
  if (applied < instances.length) {
    const tone = has(Status.FAILED) || has(Status.GONE) ? "bad" : "warn";
    return { tone, words: `${applied} of ${instances.length} applied` };
  }
  if (unknownName(change) !== undefined) return { tone: "warn", words: "no logger yet" };
  return { tone: "ok", words: `${applied} of ${instances.length} applied` };
}

/** That no logger has the name of a change, and the one that was probably meant; undefined: one has, or it is not known. */
export function unknownName(
  change: FleetChange | undefined,
): { readonly words: string; readonly nearest: string } | undefined {
  const { level, instances = [] } = change ?? {};
  const there = instances.filter(({ status }) => status !== Status.GONE);
  if (there.length === 0 || !there.every(({ unknown }) => unknown)) return undefined;
  const nearest = there.find((each) => each.nearest !== "")?.nearest ?? "";
  const whose = level?.selector === "" ? "No instance has" : "None of these instances has";
  return { words: `${whose} a logger ${level?.name} yet.`, nearest };
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
  const faults = faultsOf(rows);
  const why: string[] = [];
  const lacking = instances.filter((instance) => {
    const { id, isGone, lag } = instance;
    const found = faults.get(id) ?? [];
    if (isGone) why.push(`${id} is gone`);
    else if (lag !== undefined) why.push(`${id} has not applied everything yet`);
    else for (const { status, name } of found) why.push(`${id}: ${name} ${statusWords(status)}`);
    return stateOf(instance, found).tone !== "ok";
  });
  const [there, has] = [instances.length, instances.length - lacking.length];
  if (lacking.length === 0 && !isLoaded) {
    return { tone: "unknown", words: UNKNOWN, why: [fault?.message ?? "The levels have not been read yet."] };
  }
  const unread = rows.find(({ change }) => change === undefined);
  if (lacking.length === 0 && unread !== undefined) {
    return { tone: "unknown", words: UNKNOWN, why: [`It could not be read how far ${unread.level.name} has come.`] };
  }
  if (there === 0) return { tone: "unknown", words: "No instance is there", why: [] };
  for (const { change } of rows) {
    const unknown = unknownName(change);
    if (unknown !== undefined) why.push(unknown.words);
  }
  const isBad = lacking.some((each) => stateOf(each, faults.get(each.id)).tone === "bad");
  const tone = isBad ? "bad" : why.length > 0 ? "warn" : "ok";
  if (more > 0) why.push(`Of ${counted(more, "more level")} it was not asked how far they have come.`);
  if (isLoaded && rows.length === 0 && why.length === 0) why.push("The fleet has no level.");
  if (lacking.length === 0) {
    return {
      tone,
      words: there === 1 ? "The one instance has what was set" : `All ${there} instances have what was set`,
      why,
    };
  }
  return { tone, words: `${has} of ${counted(there, "instance")} ${has === 1 ? "has" : "have"} what was set`, why };
}
