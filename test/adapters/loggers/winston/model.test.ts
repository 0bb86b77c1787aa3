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
  | { readonly type: "set"; readonly name: string; readonly level: Level | undefined }
  | { readonly type: "child"; readonly of: number; readonly name: string | undefined }
  | { readonly type: "logger"; readonly name: string; readonly label: string | undefined }
  | { readonly type: "assign"; readonly on: number; readonly label: string };

const name = fc.constantFrom(...NAMES);
const label = fc.constantFrom(...Object.keys(LABELS));
const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("set" as const), name, level: fc.constantFrom(...LEVELS, undefined) }),
    fc.record({ type: fc.constant("child" as const), of: fc.nat(), name: fc.option(name, { nil: undefined }) }),
    fc.record({ type: fc.constant("logger" as const), name, label: fc.option(label, { nil: undefined }) }),
    fc.record({ type: fc.constant("assign" as const), on: fc.nat(), label }),
  ),
  { maxLength: 25 },
);

/** A logger and the name whose level it has: its own, or that of the logger above it. */
interface Known {
  readonly logger: winston.Logger;
  readonly name: string;
  readonly isNamed: boolean;
}

test("after any changes, loggers that share a transport write what the tree of names says", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence: readonly Step[]) => {
      const out = new Memory();
      const root = winston.createLogger({ transports: [out] });
      const loggers = new Loggers();
      const detach = loggers.attach(winstonLoggers(root));
      const known: Known[] = [{ logger: root, name: "ROOT", isNamed: true }];
      const owners = [root];
      const model = new Map<string, Level>([["ROOT", "INFO"]]);
      const baselines = new Map<string, Level>([["ROOT", "INFO"]]);
      const seen = new Set(["ROOT"]);
      try {
        for (const step of sequence) {
          if (step.type === "set") {
            loggers.setLevel(step.name, step.level);
            const level = step.level ?? (step.name === "ROOT" ? baselines.get("ROOT") : undefined);
            if (level === undefined) model.delete(step.name);
            else model.set(step.name, level);
          } else if (step.type === "child") {
            const above = known[step.of % known.length]!;
            const logger = above.logger.child(step.name === undefined ? { requestId: 1 } : { name: step.name });
            known.push({ logger, name: step.name ?? above.name, isNamed: step.name !== undefined });
            if (step.name !== undefined) seen.add(step.name);
          } else if (step.type === "logger") {
            const level = step.label === undefined ? {} : { level: step.label };
            const logger = winston.createLogger({ transports: [out], defaultMeta: { name: step.name }, ...level });
            owners.push(logger);
            known.push({ logger, name: step.name, isNamed: true });
            // A logger's own level counts if it is the first of its name and no level has been set.
            if (step.label !== undefined && !seen.has(step.name) && !model.has(step.name)) {
              model.set(step.name, LABELS[step.label]!);
            }
            seen.add(step.name);
          } else {
            const { logger, name, isNamed } = known[step.on % known.length]!;
            if (!isNamed) continue;
            logger.level = step.label;
            model.set(name, LABELS[step.label]!);
          }
        }
        await Promise.resolve();
        const expected: string[] = [];
        for (const [index, { logger, name }] of known.entries()) {
          const level = inherited(model, name);
          for (const [label, needed] of Object.entries(LABELS)) {
            logger.log(label, `${index} ${label}`);
            // npm's levels have none above error.
            const reached = level === "FATAL" ? "ERROR" : level;
            if (levelVerbosity(needed) <= levelVerbosity(reached)) expected.push(`${index} ${label}`);
          }
        }
        expect(new Set(await written(out, ...owners))).toEqual(new Set(expected));
      } finally {
        detach();
        expect(out.level).toBeUndefined();
      }
    }),
    { numRuns: 150 },
  );
});

function inherited(model: ReadonlyMap<string, Level>, name: string): Level {
  const own = model.get(name);
  if (own !== undefined) return own;
  return inherited(model, name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "ROOT");
}
