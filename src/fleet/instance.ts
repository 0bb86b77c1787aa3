import type { SeenReport } from "./engine.ts";
import { type FleetEntry, type FleetState, keyOf } from "./entry.ts";
import type { LevelFaults } from "./levels.ts";
import { isGeneration, isTime } from "./numbers.ts";
import { type Labels, labelValueFault, matches } from "./selector.ts";

/** Without a beat for this time an instance counts as gone: two beats were lost. */
const GONE_MS = 15_000;
/** Of a report, in UTF-16 code units. What an instance writes is shorter. */
const MAX_LENGTH = 64 * 1024;

/** What an instance says of itself. */
export interface InstanceReport extends LevelFaults {
  readonly application: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When its actuator was created, in milliseconds since the epoch by its own clock. */
  readonly startTime: number;
  /** Where the others reach it, if they can. */
  readonly address?: string | undefined;
  /** The name of its machine: a loopback address is of use there alone. */
  readonly host?: string | undefined;
  /** The generation that it has applied. */
  readonly generation: number;
}

/** An instance of a fleet. */
export interface FleetInstance {
  readonly id: string;
  readonly application: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly startTime: number;
  /** Where the others reach it; undefined: it did not say. */
  readonly address: string | undefined;
  /** The name of its machine; undefined: it did not say. */
  readonly host: string | undefined;
  /** When its latest report arrived, in milliseconds since the epoch by the engine's clock. */
  readonly heartbeat: number;
  /** The generation that it has applied. */
  readonly generation: number;
  /** For how many milliseconds the oldest change has been waiting that it has not applied; 0: it has applied everything. */
  readonly lagMs: number;
  /** Whether it has not reported for 15 seconds. */
  readonly isGone: boolean;
  /** Whether it is the instance that answers. */
  readonly isSelf: boolean;
}

/** How far a change of the fleet has come in one instance. */
export interface InstanceStatus {
  readonly instance: string;
  /**
   * APPLYING: it has not said yet that it has the change. APPLIED: the level is in force there, or a later one of the fleet is. FAILED:
   * it could not be applied. OVERRULED: the level was changed in that instance alone. GONE: it has not reported for 15 seconds.
   */
  readonly status: "APPLYING" | "APPLIED" | "FAILED" | "OVERRULED" | "GONE";
  /** Why it failed; empty otherwise. */
  readonly reason: string;
  /** Who changed the level there; empty: the application itself, or it is not known. */
  readonly overruledBy: string;
  /** Whether no logger has the name there yet. */
  readonly unknown: boolean;
  /** The logger there that was probably meant, if the name is unknown; empty: none is similar. */
  readonly nearest: string;
}

/** A report that could be read, with what the engine says of it. */
export interface ReadReport extends InstanceReport {
  readonly id: string;
  readonly seen: number;
  /** Whether it is older than 15 seconds. */
  readonly isGone: boolean;
}

/** Reads reports; those that another release wrote in another form, or something else, are left out. */
export function readReports(reports: readonly SeenReport[], now: number): readonly ReadReport[] {
  return reports.flatMap(({ id, text, seen }) => {
    const report = isTime(seen) && labelValueFault(id) === undefined ? readReport(text) : undefined;
    return report === undefined ? [] : [{ ...report, id, seen, isGone: now - seen > GONE_MS }];
  });
}

/** What selectors see of an instance. */
export function labelsOf({
  id,
  application,
  version,
  labels,
}: Pick<ReadReport, "id" | "application" | "version" | "labels">): Labels {
  return new Map([...Object.entries(labels), ["application", application], ["version", version], ["instance", id]]);
}

/** An instance as it is shown. */
export function instanceOf(report: ReadReport, known: FleetState, now: number, self: string): FleetInstance {
  const { id, application, version, labels, startTime, address, host, generation, seen, isGone } = report;
  const waiting = [...known.entries.values()].filter((entry) => entry.generation > generation);
  const lagMs = Math.max(0, ...waiting.map(({ setTime }) => now - setTime));
  return {
    id,
    application,
    version,
    labels,
    startTime,
    address,
    host,
    heartbeat: seen,
    generation,
    lagMs,
    isGone,
    isSelf: id === self,
  };
}

/** How far a change has come in the instances that it concerns, by id. */
export function statusesOf(entry: FleetEntry, reports: readonly ReadReport[]): readonly InstanceStatus[] {
  const key = keyOf(entry);
  return reports
    .filter((report) => matches(entry.selector, labelsOf(report)))
    .map(({ id, isGone, failed, overruled, unknown, generation }): InstanceStatus => {
      const found = (status: InstanceStatus["status"], more: Partial<InstanceStatus> = {}): InstanceStatus => {
        return { instance: id, status, reason: "", overruledBy: "", unknown: false, nearest: "", ...more };
      };
      if (isGone) return found("GONE");
      if (generation < entry.generation) return found("APPLYING");
      if (entry.level !== null && overruled[key] !== undefined)
        return found("OVERRULED", { overruledBy: overruled[key] });
      const reason = failed[key] ?? (entry.level === null ? undefined : failed[""]);
      if (reason !== undefined) return found("FAILED", { reason });
      return unknown[key] === undefined ? found("APPLIED") : found("APPLIED", { unknown: true, nearest: unknown[key] });
    })
    .sort((one, other) => (one.instance < other.instance ? -1 : 1));
}

/** Whether every instance has said how far it is, or is gone. */
export function isSettled(instances: readonly InstanceStatus[]): boolean {
  return instances.every(({ status }) => status !== "APPLYING");
}

/** Takes over what a report has, and nothing else; undefined if it does not fit. */
function readReport(text: string): InstanceReport | undefined {
  let read: Partial<Record<keyof InstanceReport, unknown>> | null;
  try {
    read = text.length > MAX_LENGTH ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
  const { application, version, labels, startTime, address, host, generation, failed, overruled, unknown } = read ?? {};
  const isFit =
    [application, version, address ?? "", host ?? ""].every((each) => typeof each === "string") &&
    isTime(startTime) &&
    isGeneration(generation) &&
    [labels, failed, overruled, unknown].every(isTexts);
  if (!isFit) return undefined;
  const facts = { application, version, labels, startTime, address, host, generation, failed, overruled, unknown };
  return facts as InstanceReport;
}

function isTexts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");
}
