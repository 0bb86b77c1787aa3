import fc from "fast-check";
import { expect, test } from "vitest";
import winston from "winston";
import { winstonLoggers } from "../../../../src/adapters/loggers/winston/index.ts";
import { LEVELS, type Level, levelVerbosity } from "../../../../src/loggers/level.ts";
import { Loggers } from "../../../../src/loggers/loggers.ts";
import { Memory, written } from "./memory.ts";

const NAMES = ["ROOT", "a", "a.b", "c"] as const;
const LABELS: Readonly<Record<string, Level>> = {
  error: "ERROR",
  warn: "WARN",
  info: "INFO",
  debug: "DEBUG",
  silly: "TRACE",
};

type Step =
  | { readonly type: "set"; readonly name: string; readonly level: Level }
  | { readonly type: "restore"; readonly name: string }
  | { readonly type: "child"; readonly of: number; readonly name: string | undefined }
  | { readonly type: "logger"; readonly name: string; readonly label: string | undefined }
  | { readonly type: "assign"; readonly on: number; readonly label: string };

const name = fc.constantFrom(...NAMES);
const label = fc.constantFrom(...Object.keys(LABELS));
const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("set" as const), name, level: fc.constantFrom(...LEVELS) }),
    fc.record({ type: fc.constant("restore" as const), name }),
    fc.record({ type: fc.constant("child" as const), of: fc.nat(), name: fc.option(name, { nil: undefined }) }),
    fc.record({ type: fc.constant("logger" as const), name, label: fc.option(label, { nil: undefined }) }),
    fc.record({ type: fc.constant("assign" as const), on: fc.nat(), label }),
  ),
  { maxLength: 25 },
);

/** A logger that has a name. */
interface Named {
  readonly name: string;
  readonly above: Named | undefined;
  /** Whether the application gave it a level. */
  own: boolean;
}

/** A logger, with the nearest one that has a name: itself, or one above it. */
interface Known {
  readonly logger: winston.Logger;
  readonly named: Named;
}

test("after any changes, loggers that share transports write what the tree of names says", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence: readonly Step[]) => {
      const [plain, strict] = [new Memory(), new Memory({ level: "debug" })];
      const transports = [plain, strict];
      const root = winston.createLogger({ transports });
      const loggers = new Loggers();
      const detach = loggers.attach(winstonLoggers(root));
      const known: Known[] = [{ logger: root, named: { name: "ROOT", above: undefined, own: true } }];
      const set = new Map<string, Level>();
      let native: Level = "INFO";
      try {
        for (const step of sequence) {
          if (step.type === "set") {
            loggers.setLevel(step.name, step.level);
            set.set(step.name, step.level);
          } else if (step.type === "restore") {
            if (set.delete(step.name)) loggers.restoreLevel(step.name);
          } else if (step.type === "child") {
            const { logger, named } = known[step.of % known.length]!;
            const { name } = step;
            const child = logger.child(name === undefined ? { requestId: 1 } : { name });
            known.push({ logger: child, named: name === undefined ? named : { name, above: named, own: false } });
          } else if (step.type === "logger") {
            const { name } = step;
            const level = step.label === undefined ? {} : { level: step.label };
            const logger = winston.createLogger({ transports, defaultMeta: { name }, ...level });
            known.push({ logger, named: { name, above: undefined, own: step.label !== undefined } });
          } else {
            const { logger, named } = known[step.on % known.length]!;
            logger.level = step.label;
            // On a child it is only a property.
            if (!Object.hasOwn(logger, "_readableState")) continue;
            if (logger === root) native = LABELS[step.label]!;
            named.own = true;
            set.delete(named.name);
          }
        }
        const expected: [string[], string[]] = [[], []];
        for (const [index, { logger, named }] of known.entries()) {
          const level = decided(set, named);
          for (const [label, needed] of Object.entries(LABELS)) {
            logger.log(label, `${index} ${label}`);
            const lets = (at: Level) => levelVerbosity(needed) <= levelVerbosity(at === "FATAL" ? "ERROR" : at);
            // The transport without a level of its own has that of the logger to which it was added first.
            if (lets(level ?? native)) expected[0].push(`${index} ${label}`);
            if (lets(level ?? "DEBUG") && lets("DEBUG")) expected[1].push(`${index} ${label}`);
          }
        }
        const all = known.map(({ logger }) => logger);
        for (const [index, out] of transports.entries()) {
          expect((await written(out, ...all)).toSorted()).toEqual(expected[index]!.toSorted());
        }
      } finally {
        detach();
      }
    }),
    { numRuns: 150 },
  );
});

/** The level that an operator's setting gives a logger; undefined if winston's applies. */
function decided(set: ReadonlyMap<string, Level>, logger: Named): Level | undefined {
  let at = logger;
  for (const name of path(logger.name)) {
    if (set.has(name)) return set.get(name);
    while (!at.own && at.above?.name === name) at = at.above;
    if (at.own && at.name === name) return undefined;
  }
  return undefined;
}

function path(name: string): readonly string[] {
  if (name === "ROOT") return [name];
  return [name, ...path(name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "ROOT")];
}
