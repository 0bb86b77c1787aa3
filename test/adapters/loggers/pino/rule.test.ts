import fc from "fast-check";
import { expect, test } from "vitest";
import { pinoLoggers } from "../../../../src/adapters/loggers/pino/index.ts";
import { LEVELS } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { PINO_VERSIONS } from "../../../support/pino-versions.ts";

type Pino = (typeof PINO_VERSIONS)[number][1];
type Native = ReturnType<Pino> & Record<string, (text: string) => void>;

/** What the application does next. Numbers choose among the loggers, levels or methods that there are. */
type Step =
  | { readonly do: "child"; of: number; name?: string; level?: number; custom?: boolean; options: boolean }
  | { readonly do: "level"; of: number; level: number }
  | { readonly do: "rename"; of: number; name: string }
  | { readonly do: "wrap"; of: number; method: number };

interface Configuration {
  readonly roots: readonly { readonly name?: string | undefined; readonly level: number }[];
  readonly levels: number;
  readonly comparison: number;
}

const CUSTOM = [
  {},
  { customLevels: { http: 25, loud: 70, silly: 5 } },
  { customLevels: { low: 1, mid: 2, high: 3 }, useOnlyCustomLevels: true },
  { customLevels: { error: 3, warning: 4, info: 6, debug: 7 }, useOnlyCustomLevels: true },
] as const;
const COMPARISONS = ["ASC", "DESC", (current: number, expected: number) => current > expected] as const;
const NAMES = ["a", "a.b", "a:b.c", "x"];

const index = fc.nat({ max: 99 });
const name = fc.constantFrom(...NAMES);
const child = fc.record(
  { do: fc.constant("child" as const), of: index, name, level: index, custom: fc.boolean(), options: fc.boolean() },
  { requiredKeys: ["do", "of", "options"] },
);
const level = fc.record({ do: fc.constant("level" as const), of: index, level: index });
const rename = fc.record({ do: fc.constant("rename" as const), of: index, name });
const wrap = fc.record({ do: fc.constant("wrap" as const), of: index, method: index });
const operatorLevel = fc.constantFrom(...LEVELS);
/** What an operator does next. */
const act = fc.oneof(
  fc.record({
    act: fc.constant("set" as const),
    name: fc.constantFrom("ROOT", ...NAMES),
    level: fc.option(operatorLevel, { nil: undefined }),
  }),
  fc.record({ act: fc.constant("restore" as const), name: fc.constantFrom("ROOT", ...NAMES) }),
  fc.record({ act: fc.constant("scope" as const), level: operatorLevel }),
  fc.record({ act: fc.constant("measure" as const) }),
);
const configuration = fc.record({
  roots: fc.array(fc.record({ name: fc.option(name, { nil: undefined }), level: index }), {
    minLength: 2,
    maxLength: 3,
  }),
  levels: fc.nat({ max: CUSTOM.length - 1 }),
  comparison: fc.nat({ max: COMPARISONS.length - 1 }),
});

/** An application with random loggers, which all write to one place. The last root is not given to the adapter. */
class Application {
  readonly records: string[] = [];
  readonly given: readonly Native[];
  readonly #loggers: Native[];

  constructor(pino: Pino, { roots, levels, comparison }: Configuration) {
    const custom = CUSTOM[levels]!;
    const labels = Object.keys("useOnlyCustomLevels" in custom ? custom.customLevels : pino.levels.values);
    const make = (of: Configuration["roots"][number]) =>
      pino(
        {
          ...custom,
          base: of.name === undefined ? null : {},
          name: of.name,
          timestamp: false,
          level: labels[of.level % labels.length]!,
          levelComparison: COMPARISONS[comparison]!,
        } as never,
        { write: (line: string) => void this.records.push(line) },
      ) as unknown as Native;
    this.#loggers = roots.map(make);
    this.given = this.#loggers.slice(0, -1);
  }

  /** Does a step. Returns pino's error if it refuses it, as it does levels that a child's own set of levels lacks. */
  run(step: Step): unknown {
    try {
      this.#do(step);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  #do(step: Step): void {
    const logger = this.#loggers[step.of % this.#loggers.length]!;
    const labels = [...Object.keys(logger.levels.values), "silent"];
    if (step.do === "level") logger.level = labels[step.level % labels.length]!;
    else if (step.do === "rename") logger.setBindings({ module: step.name });
    else if (step.do === "wrap") {
      const method = labels[step.method % (labels.length - 1)]!;
      const inner = logger[method]!;
      (logger as Record<string, unknown>)[method] = function wrapped(this: Native, text: string) {
        inner.call(this, `wrapped ${text}`);
      };
    } else {
      const bindings = step.name === undefined ? { reqId: this.#loggers.length } : { module: step.name };
      const chosen = step.level === undefined ? {} : { level: labels[step.level % labels.length]! };
      const custom = step.custom
        ? { customLevels: { [`own${this.#loggers.length}`]: 1_000 + this.#loggers.length } }
        : {};
      const options = step.options ? [{ ...chosen, ...custom }] : [];
      this.#loggers.push(logger.child(bindings, ...(options as [])) as unknown as Native);
    }
  }

  /** Calls each method of each logger. Returns the records and the loggers' own words for their levels. */
  report(): unknown {
    const levels = this.#loggers.map((logger) => {
      for (const label of Object.keys(logger.levels.values)) logger[label]!(label);
      return [
        logger.level,
        logger.levelVal,
        Object.keys(logger.levels.values).map((label) => logger.isLevelEnabled(label)),
      ];
    });
    return { records: this.records.splice(0), levels };
  }
}

test.each(PINO_VERSIONS)(
  "pino %s: a random application writes the same until an operator sets a level, and after the last is restored",
  (_, pino) => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: child }, level, rename, wrap), { maxLength: 8 });
    const meanwhile = fc.array(fc.oneof({ weight: 3, arbitrary: child }, level, rename, act), { maxLength: 12 });
    fc.assert(
      fc.property(configuration, steps, steps, meanwhile, steps, (settings, older, before, between, after) => {
        const [bare, observed] = [new Application(pino, settings), new Application(pino, settings)];
        const both = (step: Step) => expect(observed.run(step)).toEqual(bare.run(step));
        const compare = () => expect(observed.report()).toEqual(bare.report());
        older.forEach(both);
        const loggers = new Loggers();
        const detach = loggers.attach(pinoLoggers(observed.given as never));
        compare();
        before.forEach(both);
        compare();
        for (const step of between) {
          // A child's own set of levels may lack the level that the operator or the application has set on the parent.
          if ("do" in step) both(step.do === "child" ? { ...step, custom: false } : step);
          else if (step.act === "set") loggers.setLevel(step.name, step.level);
          else if (step.act === "restore") {
            if (loggers.get(step.name) !== undefined) loggers.restoreLevel(step.name);
          } else if (step.act === "scope") loggers.withLevel(step.level, () => observed.report());
          else loggers.measure().end();
        }
        loggers.restoreAllLevels();
        bare.report();
        observed.report();
        compare();
        after.forEach(both);
        compare();
        detach();
        older.forEach(both);
        compare();
      }),
      { numRuns: 100 },
    );
  },
);
