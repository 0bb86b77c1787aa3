import { timestampMs } from "@bufbuild/protobuf/wkt";
import { printable } from "../common/printable.ts";
import { type FleetChange, type FleetLevel, InstanceStatus_Status as Status } from "../gen/actuator/v3/fleet_pb.ts";
import { Level } from "../gen/actuator/v3/level_pb.ts";
import { EXIT, type ExitCode } from "./error.ts";
import { meantText } from "./loggers-text.ts";
import { type Format, listText, note, print, shortTimeText, tableLines } from "./output.ts";

/** How many instances a line names. */
const MAX_NAMED = 3;

const STATUSES: Readonly<Record<Status, string>> = {
  [Status.UNSPECIFIED]: "?",
  [Status.APPLYING]: "APPLYING",
  [Status.APPLIED]: "APPLIED",
  [Status.FAILED]: "FAILED",
  [Status.OVERRULED]: "OVERRULED",
  [Status.GONE]: "GONE",
};

const COLOURS: Readonly<Record<string, Format>> = {
  APPLYING: "yellow",
  APPLIED: "green",
  FAILED: "red",
  OVERRULED: "yellow",
  GONE: "gray",
};

const LOOK = { colours: { STATUS: (status: string) => COLOURS[status] } };

/** Prints how far a change has come, a line for each instance. */
export function printStatuses({ level, instances }: FleetChange): void {
  if (instances.length === 0) {
    note(`No instance matches now${level?.level === Level.UNSPECIFIED ? "" : "; later ones get the level"}.`);
    return;
  }
  const rows = instances.map(({ instance, status, reason, overruledBy, unknown }) => {
    const by = status === Status.OVERRULED ? `set on this instance by ${overruledBy || "the application"}` : reason;
    return [instance, STATUSES[status]!, unknown ? "no logger has this name yet" : by].map(printable);
  });
  for (const line of tableLines(["INSTANCE", "STATUS", ""], rows, LOOK)) print(line);
}

/** Notes what the statuses mean together: which instances are gone, and that no instance has the logger. */
export function noteStatuses({ level, instances }: FleetChange): void {
  const gone = instances.filter(({ status }) => status === Status.GONE).map(({ instance }) => instance);
  if (gone.length === 1) note(`${namedInstances(gone)} is gone, and applies the change when it is back.`);
  else if (gone.length > 1) {
    note(`${gone.length} instances are gone, and apply the change when they are back: ${namedInstances(gone)}.`);
  }
  const there = instances.filter(({ status }) => status !== Status.GONE);
  if (there.length === 0 || !there.every(({ unknown }) => unknown)) return;
  const nearest = new Set(there.map((each) => each.nearest).filter((name) => name !== ""));
  note(`No instance has a logger ${printable(level?.name ?? "")} yet.${meantText([...nearest])}`);
}

/** 1 if an instance that is there did not apply the change. */
export function exitCodeOf({ instances }: FleetChange): ExitCode {
  const isDone = instances.every(({ status }) => status === Status.APPLIED || status === Status.GONE);
  return isDone ? EXIT.ok : EXIT.refused;
}

/** How many instances have not said yet how far they are. */
export function countApplying({ instances }: FleetChange): number {
  return instances.filter(({ status }) => status === Status.APPLYING).length;
}

/** `web-1, web-2, web-3 and 4 more`. */
export function namedInstances(ids: readonly string[]): string {
  return listText(ids.map(printable), MAX_NAMED);
}

/** Says how long a level lasts: `until 14:32:10`. */
export function lastsText({ canaryId, override }: Pick<FleetLevel, "canaryId" | "override">): string {
  if (canaryId !== "") return `as canary ${printable(canaryId)}`;
  if (override?.held) return "until it is released";
  if (override?.expireTime === undefined) return "until it is changed";
  return `until ${shortTimeText(timestampMs(override.expireTime))}`;
}
