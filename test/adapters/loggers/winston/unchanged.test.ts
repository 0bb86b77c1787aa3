import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { LEVELS, type Level } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";

type AnyLogger = winston.Logger & Record<string, (...values: unknown[]) => unknown>;

const LEVEL_SETS: readonly Readonly<Record<string, number>>[] = [
  winston.config.npm.levels,
  winston.config.syslog.levels,
  winston.config.cli.levels,
  { high: 0, medium: 1, low: 2 },
];
const LABELS = [...new Set(LEVEL_SETS.flatMap((levels) => Object.keys(levels))), "off"];
const NAMES = ["a", "a.b", "c"] as const;

const at = fc.nat(20);
const label = fc.constantFrom(...LABELS);
const option = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const transports = fc.array(at, { maxLength: 3 });
const setup = {
  levels: fc.nat(LEVEL_SETS.length - 1),
  level: option(label),
  silent: option(fc.boolean()),
  transports,
};

/** What an application may do. */
const step = fc.oneof(
  fc.record({ type: fc.constant("logger"), name: option(fc.constantFrom(...NAMES)), ...setup }),
  fc.record({ type: fc.constant("configure"), on: at, ...setup }),
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("child"), of: at, name: option(fc.constantFrom(...NAMES)) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("write"), on: at, label, way: fc.nat(4) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("level"), on: at, label }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("transportLevel"), transport: at, label: option(label) }),
  },
  fc.record({ type: fc.constant("silent"), on: at, value: fc.boolean() }),
  fc.record({ type: fc.constant("transportSilent"), transport: at, value: fc.boolean() }),
  fc.record({ type: fc.constant("add"), on: at, transport: at }),
  fc.record({ type: fc.constant("remove"), on: at, transport: at }),
  fc.record({ type: fc.constant("pipe"), on: at }),
  fc.record({ type: fc.constant("close"), on: at }),
) as fc.Arbitrary<Step>;

type Step = Record<string, never> & {
  readonly type: string;
  readonly on: number;
  readonly of: number;
  readonly transport: number;
  readonly transports: readonly number[];
  readonly levels: number;
  readonly way: number;
  readonly name: string | undefined;
  readonly label: string;
  readonly level: string | undefined;
  readonly silent: boolean | undefined;
  readonly value: boolean;
};

/** One run of an application. */
class Application {
  readonly loggers: AnyLogger[] = [];
  /** All that can be seen of it from outside: lines, formatted records, errors, levels. */
  seen: unknown[] = [];
  readonly #transports: winston.transport[];

  constructor() {
    const line = winston.format((info) => {
      this.seen.push(["formatted", info.message]);
      return info.message === "x3" ? { ...info, copied: true } : info;
    });
    this.#transports = [undefined, "debug", "error", "low"].map((level, index) => {
      const stream = new PassThrough();
      stream.on("data", (chunk: Buffer) => this.seen.push([`transport ${index}`, chunk.toString()]));
      const format = index === 1 ? winston.format.simple() : undefined;
      return new winston.transports.Stream({ stream, level, format } as never);
    });
    this.#format = winston.format.combine(line(), winston.format.json());
    this.do({ type: "logger", levels: 0, transports: [0, 1] } as never);
  }

  readonly #format: winston.Logform.Format;

  do(step: Step): void {
    try {
      this.#do(step);
    } catch (error) {
      this.seen.push(String(error));
    }
    for (const logger of this.loggers) {
      const enabled = LABELS.filter((label) => logger.isLevelEnabled(label));
      this.seen.push([logger.level, logger.levels, enabled.join(), this.#transports.map(({ level }) => level)]);
    }
  }

  #do(step: Step): void {
    const logger = this.loggers[step.on % this.loggers.length]!;
    const transport = this.#transports[step.transport % this.#transports.length]!;
    const options = () => ({
      format: this.#format,
      levels: LEVEL_SETS[step.levels],
      level: step.level,
      silent: step.silent,
      transports: [...new Set(step.transports.map((index) => this.#transports[index % this.#transports.length]!))],
    });
    if (step.type === "logger") {
      const defaultMeta = { ...(step.name === undefined ? {} : { name: step.name }), logger: 1 };
      this.loggers.push(winston.createLogger({ ...options(), defaultMeta } as never) as AnyLogger);
    } else if (step.type === "configure") logger.configure(options() as never);
    else if (step.type === "child") {
      const metadata = { ...(step.name === undefined ? {} : { name: step.name }), child: this.loggers.length };
      this.loggers.push(this.loggers[step.of % this.loggers.length]!.child(metadata) as AnyLogger);
    } else if (step.type === "write") this.write(logger, step);
    else if (step.type === "level") logger.level = step.label;
    else if (step.type === "transportLevel") transport.level = step.label;
    else if (step.type === "silent") logger.silent = step.value;
    else if (step.type === "transportSilent") transport.silent = step.value;
    else if (step.type === "add") logger.add(transport);
    else if (step.type === "remove") logger.remove(transport);
    else if (step.type === "close") logger.close();
    else {
      const write = (record: unknown, _: unknown, done: () => void) => {
        this.seen.push(["plain stream", JSON.stringify(record)]);
        done();
      };
      logger.pipe(new Writable({ objectMode: true, write }));
    }
  }

  write(logger: AnyLogger, { label, way }: Step): void {
    const text = `x${way}`;
    if (way === 0) logger[label]?.(text);
    else if (way === 1) logger[label]?.(text, { a: 1 });
    else if (way === 2) logger.log(label, text);
    else if (way === 3) logger.log({ level: label, message: text });
    else logger.write({ level: label, message: text });
  }

  /** What was seen so far, once nothing is on its way any more. */
  async take(): Promise<readonly unknown[]> {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    return this.seen.splice(0);
  }
}

const level: fc.Arbitrary<Level> = fc.constantFrom(...LEVELS);

interface Change {
  readonly name: string;
  readonly level: Level;
}

const change: fc.Arbitrary<Change> = fc.record({ name: fc.constantFrom("ROOT", ...NAMES), level });

const errors: unknown[][] = [];
beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation((...values) => void errors.push(values));
});

/** Runs an application twice, with the adapter and without; `run` returns what was seen. */
async function sameWithAdapter(run: (application: Application, loggers: Loggers) => Promise<unknown>): Promise<void> {
  const seen: unknown[] = [];
  for (const attached of [true, false]) {
    errors.length = 0;
    const application = new Application();
    const loggers = new Loggers();
    const detach = attached ? loggers.attach(winstonLoggers(application.loggers[0]!)) : () => {};
    try {
      seen.push(await run(application, loggers));
    } finally {
      detach();
    }
  }
  expect(seen[0]).toEqual(seen[1]);
}

const steps = fc.array(step, { maxLength: 30 });

test("an application writes the same with the adapter, until the first level is set and after all are restored", async () => {
  const run = async (before: readonly Step[], changes: readonly Change[], after: readonly Step[]) => {
    await sameWithAdapter(async (application, loggers) => {
      for (const step of before) application.do(step);
      const first = [await application.take(), errors.splice(0)];
      loggers.list();
      for (const { name, level } of changes) loggers.setLevel(name, level);
      for (const logger of application.loggers) {
        // What such a logger keeps would be written later.
        if (logger.transports.length === 0) continue;
        for (const label of Object.keys(logger.levels)) logger.log(label, "while levels are set");
      }
      await application.take();
      loggers.restoreAllLevels();
      errors.length = 0;
      for (const step of after) application.do(step);
      return [first, await application.take(), errors.splice(0)];
    });
  };
  await fc.assert(fc.asyncProperty(steps, fc.array(change, { maxLength: 3 }), steps, run), { numRuns: 100 });
});

test("while a level is set on one logger, all others write the same", async () => {
  const run = async (level: Level, sequence: readonly Step[]) => {
    await sameWithAdapter(async (application, loggers) => {
      const own = application.loggers[0]!.child({ name: "own", own: true });
      loggers.setLevel("own", level);
      for (const step of sequence) {
        application.do(step);
        // Without a transport its records would stay and stand in the way of others.
        if (own.transports.length > 0) for (const label of Object.keys(own.levels)) own.log(label, "own");
      }
      // Each kind by itself: what the one logger writes may make others wait.
      const seen = Map.groupBy([...(await application.take()), ...errors] as string[][], ([kind]) => kind);
      const sorted = [...seen].sort(([a], [b]) => String(a).localeCompare(String(b))).flatMap(([, each]) => each);
      // A closed logger that is written to again lets later records overtake those that wait for its own.
      if (sequence.some(({ type }) => type === "close")) sorted.sort((a, b) => (String(a) < String(b) ? -1 : 1));
      return sorted.filter((each) => !JSON.stringify(each).includes("own"));
    });
  };
  await fc.assert(fc.asyncProperty(level, steps, run), { numRuns: 100 });
});
