import { expect, test } from "vitest";
import { recordSinks } from "../../../../src/adapters/kit/loggers/record-sinks.ts";
import type { RecordSink, WrittenRecord } from "../../../../src/loggers/adapter.ts";

function sink(verbosity: number, hiddenVerbosity = 0, taken: (record: WrittenRecord) => void = () => undefined) {
  const records: WrittenRecord[] = [];
  const take = (record: WrittenRecord) => {
    records.push(record);
    taken(record);
  };
  return { verbosity, hiddenVerbosity, take, records } satisfies RecordSink & { records: WrittenRecord[] };
}

const record: WrittenRecord = {
  verbosity: 4,
  nativeLevel: "info",
  hidden: false,
  size: 1,
  read: () => ({ message: "x", fields: {} }),
};

test("asks for the sink of a logger once, and finds it for the verbosities that it takes", () => {
  const asked: string[] = [];
  const one = sink(4, 6);
  const sinks = recordSinks((name) => {
    asked.push(name);
    return name === "wanted" ? one : undefined;
  });
  const [wanted, other] = [{ name: "wanted" }, { name: "other" }];
  expect([3, 4, 5].map((verbosity) => sinks.find(wanted, verbosity))).toEqual([one, one, undefined]);
  expect([5, 6, 7].map((verbosity) => sinks.findHidden(wanted, verbosity))).toEqual([one, one, undefined]);
  expect([sinks.find(other, 1), sinks.findHidden(other, 1), sinks.find(undefined, 1)]).toEqual(
    Array(3).fill(undefined),
  );
  expect(asked).toEqual(["wanted", "other"]);
});

test("wants no record that a sink causes, in any tail, and throws nothing", () => {
  const logger = { name: "a" };
  const tails = [0, 1].map(() => recordSinks<typeof logger>(() => heard));
  const nested: unknown[] = [];
  const heard: ReturnType<typeof sink> = sink(6, 6, () => {
    for (const tail of tails) nested.push(tail.find(logger, 1), tail.findHidden(logger, 1));
    throw new Error("sink");
  });
  const [tail] = tails;
  tail!.give(heard, () => record);
  expect(nested).toEqual(Array(4).fill(undefined));
  tail!.give(heard, () => {
    throw new Error("make");
  });
  tail!.give(heard, () => undefined);
  expect(heard.records).toEqual([record]);
  expect(tail!.find(logger, 1)).toBe(heard);
});
