import fc from "fast-check";
import { expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import type { Level } from "../../../../src/loggers/level.ts";
import { LEVELS, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

type Pino = (typeof PINO_VERSIONS)[number][1];
type Native = ReturnType<Pino> & Record<string, (text: string) => void>;

const NAMES = ["a", "a.b", "a:b.c", "x"];
/** The verbosity of each method's records as they are shown, and whether some level lets them through. */
const METHODS = [
  ...LEVELS.slice(1).map((level) => ({ label: level.toLowerCase(), verbosity: levelVerbosity(level), raised: true })),
  { label: "notice", verbosity: levelVerbosity("INFO"), raised: true },
  { label: "detail", verbosity: levelVerbosity("TRACE"), raised: true },
  { label: "silly", verbosity: levelVerbosity("TRACE"), raised: false },
];

interface Tail {
  readonly name: string;
  readonly verbosity: number;
  readonly hiddenVerbosity: number;
}

/** Numbers choose among the loggers or methods that there are. */
type Step =
  | { readonly do: "child"; readonly of: number; readonly name: string | undefined }
  | { readonly do: "level"; readonly of: number; readonly level: string }
  | { readonly do: "operator"; readonly name: string; readonly level: Level | undefined }
  | { readonly do: "tail"; readonly sinks: readonly Tail[] }
  | { readonly do: "log"; readonly of: number; readonly method: number; readonly scope: Level | undefined };

const index = fc.nat({ max: 99 });
const name = fc.constantFrom("ROOT", ...NAMES);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const verbosity = fc.nat({ max: 6 });
const log = fc.record({
  do: fc.constant("log" as const),
  of: index,
  method: index,
  scope: fc.option(fc.constantFrom(...LEVELS), { nil: undefined, freq: 8 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: log },
  fc.record({ do: fc.constant("child" as const), of: index, name: maybe(fc.constantFrom(...NAMES)) }),
  fc.record({
    do: fc.constant("level" as const),
    of: index,
    level: fc.constantFrom("silent", "notice", "detail", "silly", ...METHODS.map(({ label }) => label)),
  }),
  fc.record({ do: fc.constant("operator" as const), name, level: maybe(fc.constantFrom(...LEVELS)) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("tail" as const),
      sinks: fc.uniqueArray(fc.record({ name, verbosity, hiddenVerbosity: verbosity }), {
        selector: (tail) => tail.name,
      }),
    }),
  },
);

/** A logger of the program, as the model sees it. */
interface Known {
  readonly logger: Native;
  /** The name under which its records are heard. */
  readonly name: string;
  readonly isNamed: boolean;
  /** Whether the application set a level on it. */
  hasLevel: boolean;
  /** Whose level it follows if it has neither: pino 8 and 9 copy it once. */
  readonly followsNamed: () => boolean;
}

interface Outcome {
  /** Everything that the destination got. */
  readonly lines: readonly string[];
  /** For each call, whether its record was written, and the state that it met. */
  readonly calls: readonly { readonly written: boolean; readonly expected: (written: boolean) => readonly string[] }[];
  /** What each call made the sinks hear. */
  readonly heard: readonly (readonly string[])[];
}

/** Runs a program, with its tails or without. */
function run(pino: Pino, steps: readonly Step[], withTails: boolean): Outcome {
  const lines: string[] = [];
  const root = pino(
    {
      base: null,
      timestamp: false,
      customLevels: { notice: 35, detail: 15, silly: 5 },
      redact: ["secret"],
      mixin: (_merged, level) => ({ mixed: level }),
      hooks: {
        logMethod(values, method) {
          method.apply(this, [{ secret: 1 }, ...values] as never);
        },
      },
    },
    { write: (line) => void lines.push(line) },
  ) as unknown as Native;
  const loggers = new Loggers();
  const detach = loggers.attach(pinoLoggers(root));
  const all: Known[] = [{ logger: root, name: "ROOT", isNamed: true, hasLevel: false, followsNamed: () => true }];
  const outcome = { lines, calls: [] as Outcome["calls"][number][], heard: [] as string[][] };
  let sinks: readonly Tail[] = [];
  let heard: string[] = [];
  for (const each of steps) {
    const known = all[("of" in each ? each.of : 0) % all.length]!;
    if (each.do === "child") {
      const logger = known.logger.child(each.name === undefined ? { id: all.length } : { name: each.name }) as Native;
      const isNamed = each.name !== undefined;
      const copied = isManaged(known);
      const followsNamed = () => (Number.parseInt(pino.version, 10) < 10 ? copied : isManaged(known));
      all.push({ logger, name: each.name ?? known.name, isNamed, hasLevel: false, followsNamed });
    } else if (each.do === "level") {
      known.logger.level = each.level;
      known.hasLevel = true;
    } else if (each.do === "operator") loggers.setLevel(each.name, each.level);
    else if (each.do === "tail") {
      sinks = each.sinks;
      if (!withTails) continue;
      const sinkOf = (of: string) => {
        const sink = each.sinks.find((tail) => tail.name === of);
        return (
          sink && {
            ...sink,
            take: (record: { hidden: boolean; verbosity: number; read(): { message: string; fields: object } }) => {
              const { message, fields } = record.read();
              heard.push(`${of} ${record.hidden ? "hidden" : "written"} ${record.verbosity} ${message}`);
              expect(fields).toMatchObject({ secret: "[Redacted]", mixed: expect.any(Number) });
            },
          }
        );
      };
      loggers.hear(
        sinks.length === 0 ? undefined : sinkOf,
        sinks.some(({ hiddenVerbosity }) => hiddenVerbosity > 0),
      );
    } else {
      const { label, verbosity, raised } = METHODS[each.method % METHODS.length]!;
      const text = `call ${outcome.calls.length}`;
      const before = lines.length;
      heard = [];
      if (each.scope === undefined) known.logger[label]!(text);
      else loggers.withLevel(each.scope, () => known.logger[label]!(text));
      const sink = sinks.find((tail) => tail.name === known.name);
      const canBeRaised = raised && isManaged(known);
      const expected = (written: boolean) => {
        if (sink === undefined) return [];
        const isHeard = written ? verbosity <= sink.verbosity : canBeRaised && verbosity <= sink.hiddenVerbosity;
        return isHeard ? [`${known.name} ${written ? "written" : "hidden"} ${verbosity} ${text}`] : [];
      };
      outcome.calls.push({ written: lines.length > before, expected });
      outcome.heard.push(heard);
    }
  }
  loggers.hear(undefined);
  for (const { label } of METHODS) for (const { logger } of all) logger[label]!("after the last tail");
  detach();
  void loggers.close();
  return outcome;
}

/** Whether an operator's level reaches a logger. One with a level of its own and no name is left to the application. */
function isManaged({ isNamed, hasLevel, followsNamed }: Known): boolean {
  return isNamed || (!hasLevel && followsNamed());
}

test.each(PINO_VERSIONS)(
  "pino %s: the destination gets what it would get without tails, and they hear the rest",
  (_, pino) => {
    const seen = { written: 0, hidden: 0 };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), (steps) => {
        const [bare, tailed] = [run(pino, steps, false), run(pino, steps, true)];
        expect(tailed.lines).toEqual(bare.lines);
        expect(bare.heard.flat()).toEqual([]);
        expect(tailed.heard).toEqual(bare.calls.map(({ written, expected }) => expected(written)));
        for (const record of tailed.heard.flat()) seen[record.includes(" hidden ") ? "hidden" : "written"]++;
      }),
      { numRuns: 150 },
    );
    expect(Math.min(seen.written, seen.hidden)).toBeGreaterThan(20);
  },
);
