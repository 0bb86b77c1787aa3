// @module-tag slow
import { fork } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Level } from "../../src/loggers/level.ts";
import { messageOf } from "../support/child-message.ts";
import { LEAVES, NAMES, type Observed, type Step, TailModel } from "./tail-model.ts";

const level = fc.constantFrom<Level>("ERROR", "WARN", "INFO", "DEBUG");
const names = fc.uniqueArray(fc.constantFrom(...NAMES, "a.*", "a.b.*"), { maxLength: 3 });
const write = fc.record({ kind: fc.constant("write" as const), level });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: write },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        kind: fc.constant("open" as const),
        names,
        level: fc.constantFrom<Level>("WARN", "DEBUG", "DEBUG"),
        raise: fc.record({ level, onlyHere: fc.boolean() }),
      },
      { requiredKeys: ["kind", "names", "level"] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("close" as const), tail: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const), names, level, onlyHere: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("application" as const), name: fc.constantFrom(...LEAVES), level }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("set" as const), name: fc.constantFrom(...NAMES), level }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restore" as const), name: fc.constantFrom(...NAMES) }) },
);

/** What a line and a record say of a write: its content is found by its id. */
interface Line {
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What libraries add to the fields of a write. */
const DECORATION: ReadonlySet<string> = new Set(["level", "time", "name", "logger", "msg", "message"]);

function parsed(text: string): Line {
  const line = JSON.parse(text) as Record<string, unknown>;
  expect(line.msg ?? line.message, text).toBe(`message ${line.id}`);
  return { id: line.id as number, fields: undecorated(line) };
}

function undecorated(line: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(line).filter(([key]) => !DECORATION.has(key)));
}

test.each(["pino", "winston"])(
  "whatever happens, %s writes, shows and keeps levels as a model says",
  async (library) => {
    const child = fork(join(import.meta.dirname, "tail-child.ts"), [library], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();

    async function writtenLines(): Promise<string[]> {
      const written: string[] = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error("the application has ended");
        if (value === '{"end":true}') return written;
        written.push(value!);
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const model = new TailModel(library === "pino");
        for (const each of steps) model.do(each);
        model.end();
        const observing = messageOf<Observed>(child);
        child.send(steps);
        const [{ heard, ends, levels }, raw] = await Promise.all([observing, writtenLines()]);
        const written = raw.map(parsed);

        expect(written.map(({ id }) => id)).toEqual(model.written);
        expect(levels).toEqual(model.levels);
        const lineOf = new Map(written.map((line) => [line.id, line]));
        for (const [at, tail] of model.tails.entries()) {
          const ids = heard[at]!.map(({ message, onlyHere }) => ({ id: Number(message.split(" ")[1]), onlyHere }));
          expect(ids).toEqual(tail.heard);
          expect(ends[at]).toEqual(tail.isOverruled ? ["OVERRULED"] : []);
          for (const [place, { fields, logger, level }] of heard[at]!.entries()) {
            const { id } = ids[place]!;
            expect(logger).toBe(NAMES[id % NAMES.length]);
            const line = lineOf.get(id);
            expect({ ...undecorated(fields), order: { ...(fields.order as object), token: `secret ${id}` } }).toEqual(
              line?.fields ?? {
                id,
                order: { token: `secret ${id}`, items: [id, library === "pino" ? "[Redacted]" : `${id}`] },
              },
            );
            expect((fields.order as { token: string }).token).toBe("[redacted]");
            expect(["ERROR", "WARN", "INFO", "DEBUG"]).toContain(level);
          }
        }
      }),
      { numRuns: 30 },
    );
  },
);
