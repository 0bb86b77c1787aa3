import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { LevelsState } from "../../src/dashboard/fleet/state.ts";
import { headline, missing, progressOf, statusWords } from "../../src/dashboard/fleet/summary.ts";
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

/** A level with how far it has come in each of `web-1`, `web-2` … */
function row(...statuses: Status[]) {
  const instances = statuses.map((status, at) => ({ instance: `web-${at + 1}`, status, overruledBy: "bob" }));
  return {
    level: create(FleetLevelSchema, { name: "orders" }),
    change: create(FleetChangeSchema, { instances }),
  };
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
    "web-1 is 12 s behind",
  ]);
  expect(said([{ id: "web-1" }, { id: "web-2", isGone: true }])).toEqual([
    "bad",
    "1 of 2 instances has what was set",
    "web-2 is gone",
  ]);
  expect(said(BOTH, { rows: [row(APPLIED, OVERRULED)] })).toEqual([
    "bad",
    "1 of 2 instances has what was set",
    "web-2: orders overruled by bob",
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
