import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import type { LevelsState } from "../../src/dashboard/fleet/state.ts";
import {
  faultsOf,
  headline,
  missing,
  progressOf,
  stateOf,
  statusWords,
  unknownName,
} from "../../src/dashboard/fleet/summary.ts";
import {
  FleetChangeSchema,
  FleetLevelSchema,
  InstanceStatusSchema,
  ListInstancesResponseSchema,
  InstanceStatus_Status as Status,
} from "../../src/gen/actuator/v3/fleet_pb.ts";

type Instances = NonNullable<MessageInitShape<typeof ListInstancesResponseSchema>["instances"]>;

function said(instances: Instances, levels: Partial<LevelsState> = {}, unavailable?: string) {
  const latest = create(ListInstancesResponseSchema, { instances });
  const { tone, words, why } = headline(
    { latest, unavailable },
    { isLoaded: true, rows: [], more: 0, fault: undefined, ...levels },
    true,
  );
  return [tone, words, ...why];
}

/** The level is applied, and no logger has its name. */
const UNKNOWN_NAME = "unknown name";

/** A level with how far it has come in each of `web-1`, `web-2` … */
function row(...statuses: (Status | typeof UNKNOWN_NAME)[]) {
  const instances = statuses.map((status, at) => ({
    instance: `web-${at + 1}`,
    overruledBy: "bob",
    ...(status === UNKNOWN_NAME ? { status: Status.APPLIED, unknown: true, nearest: "order" } : { status }),
  }));
  const level = create(FleetLevelSchema, { name: "orders" });
  return { level, change: create(FleetChangeSchema, { level, instances }) };
}

const BOTH = [{ id: "web-1" }, { id: "web-2" }];
const UNKNOWN = "Not known whether all instances have what was set";

test("the headline says whether all instances have what was set, and what is in the way", () => {
  const { APPLIED, APPLYING, OVERRULED } = Status;
  expect(said(BOTH)).toEqual(["ok", "All 2 instances have what was set", "The fleet has no level."]);
  expect(said(BOTH, { rows: [row(APPLIED, APPLIED)] })).toEqual(["ok", "All 2 instances have what was set"]);
  const isBehind = [{ id: "web-1", lag: { seconds: 12n } }, { id: "web-2" }];
  expect(said(isBehind, { rows: [row(APPLYING, APPLIED)] })).toEqual([
    "warn",
    "1 of 2 instances has what was set",
    "web-1 has not applied everything yet",
  ]);
  expect(said([{ id: "web-1" }, { id: "web-2", isGone: true }])).toEqual([
    "bad",
    "1 of 2 instances has what was set",
    "web-2 is gone",
  ]);
  expect(said(BOTH, { rows: [row(APPLIED, OVERRULED)] })).toEqual([
    "warn",
    "1 of 2 instances has what was set",
    "web-2: orders overruled by bob",
  ]);
  expect(said(BOTH, { rows: [row(Status.FAILED, OVERRULED)] })[0]).toBe("bad");
  expect(said(BOTH, { rows: [row(UNKNOWN_NAME, UNKNOWN_NAME)] })).toEqual([
    "warn",
    "All 2 instances have what was set",
    "No instance has a logger orders yet.",
  ]);
  expect(said([])).toEqual(["unknown", "No instance is there"]);
});

test("what is not known is not called good", () => {
  expect(said(BOTH, {}, "connection refused")).toEqual(["unknown", UNKNOWN, "connection refused"]);
  expect(said(BOTH, { isLoaded: false })).toEqual(["unknown", UNKNOWN, "The levels have not been read yet."]);
  expect(said(BOTH, { rows: [{ ...row(), change: undefined }] })[0]).toBe("unknown");
  expect(said(BOTH, { rows: [row(Status.APPLIED, Status.APPLIED)], more: 3 })).toEqual([
    "ok",
    "All 2 instances have what was set",
    "Of 3 more levels it was not asked how far they have come.",
  ]);
  const latest = create(ListInstancesResponseSchema, { instances: BOTH });
  const levels = { isLoaded: true, rows: [], more: 0, fault: undefined };
  expect(headline({ latest, unavailable: undefined }, levels, false).why).toEqual(["This page is not connected."]);
});

test("the progress of a change, with those that do not have it", () => {
  const { APPLIED, APPLYING, FAILED } = Status;
  expect(progressOf(row(APPLIED, APPLIED).change)).toEqual({ tone: "ok", words: "2 of 2 applied" });
  expect(progressOf(row(APPLIED, APPLYING).change)).toEqual({ tone: "warn", words: "1 of 2 applied" });
  expect(progressOf(row(APPLIED, FAILED).change)).toEqual({ tone: "bad", words: "1 of 2 applied" });
  expect(progressOf(row().change)).toEqual({ tone: "unknown", words: "no instance matches" });
  expect(progressOf(undefined)).toEqual({ tone: "unknown", words: "not known" });
  expect(missing(row(APPLIED, FAILED).change).map(({ instance }) => instance)).toEqual(["web-2"]);
  const failed = { instance: "web-2", status: FAILED, reason: "no such level" };
  expect(statusWords(create(InstanceStatusSchema, failed))).toBe("failed: no such level");
});

test("an instance is up to date only if nothing failed or was overruled in it", () => {
  const { APPLIED, FAILED, OVERRULED } = Status;
  const faults = faultsOf([row(APPLIED, OVERRULED, OVERRULED), row(APPLIED, APPLIED, FAILED)]);
  const there = { isGone: false };
  expect(stateOf(there, faults.get("web-1"))).toEqual({ tone: "ok", words: "up to date" });
  expect(stateOf(there, faults.get("web-2"))).toEqual({ tone: "warn", words: "1 level overruled" });
  expect(stateOf(there, faults.get("web-3"))).toEqual({ tone: "bad", words: "1 level failed" });
  expect(stateOf({ isGone: true }, faults.get("web-2"))).toEqual({ tone: "bad", words: "gone" });
});

test("how far an instance is behind goes on while it says nothing, and less than a second is no number", () => {
  const late = { isGone: false, lag: create(DurationSchema, { nanos: 142e6 }) };
  expect(stateOf(late)).toEqual({ tone: "warn", words: "applying" });
  expect(stateOf(late, [], 3_000)).toEqual({ tone: "warn", words: "3 s behind" });
});

test("a name that no logger has is not called applied", () => {
  const { APPLIED, APPLYING, GONE } = Status;
  const { change } = row(UNKNOWN_NAME, UNKNOWN_NAME);
  expect(progressOf(change)).toEqual({ tone: "warn", words: "no logger yet" });
  expect(unknownName(change)).toEqual({ words: "No instance has a logger orders yet.", nearest: "order" });
  expect(unknownName(row(UNKNOWN_NAME, GONE).change)?.nearest).toBe("order");
  for (const other of [APPLIED, APPLYING]) expect(unknownName(row(UNKNOWN_NAME, other).change)).toBeUndefined();
  expect(progressOf(row(UNKNOWN_NAME, APPLIED).change)).toEqual({ tone: "ok", words: "2 of 2 applied" });
  const level = create(FleetLevelSchema, { name: "orders", selector: "zone=eu" });
  const ofSome = create(FleetChangeSchema, { ...change, level });
  expect(unknownName(ofSome)?.words).toBe("None of these instances has a logger orders yet.");
});
