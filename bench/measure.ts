/**
 * What a call of a pino logger costs before, while and after it is measured, beside pino as it is.
 *
 * A disabled call costs nothing where the engine leaves it out, which it does for as long as the place has called one function
 * only. A measurement ends that for the places that run meanwhile, and so does a level that comes and goes.
 */
import { type Logger, pino } from "pino";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { type Call, compareCalls } from "./support/calls.ts";

/** One root for each row, since what happened to one must not show on another. */
type Subject = Record<"before" | "during" | "after" | "fresh" | "changed", Logger>;

/** So often that the engine has compiled the place of a call for what it has seen there. */
const TRAINING = 200_000;

const disabled = {
  before: ({ before }: Subject) => before.debug("x"),
  during: ({ during }: Subject) => during.debug("x"),
  after: ({ after }: Subject) => after.debug("x"),
  fresh: ({ fresh }: Subject) => fresh.debug("x"),
  changed: ({ changed }: Subject) => changed.debug("x"),
};
const enabled = {
  before: ({ before }: Subject) => before.info("x"),
  during: ({ during }: Subject) => during.info("x"),
  after: ({ after }: Subject) => after.info("x"),
};
const train = (subject: Subject, ...calls: readonly ((subject: Subject) => void)[]) => {
  for (const call of calls) for (let count = 0; count < TRAINING; count++) call(subject);
};

/** A root with loggers of its own, or bare. */
function rootOf(attached: boolean): { root: Logger; loggers: Loggers | undefined } {
  const root = pino({ base: null }, { write: () => {} });
  const loggers = attached ? new Loggers() : undefined;
  loggers?.attach(pinoLoggers(root));
  // A root without children is slower, since the engine makes an object fast when it becomes a prototype.
  root.child({ reqId: 1 }).debug("x");
  return { root, loggers };
}

const calls: readonly Call<Subject>[] = [
  ["disabled, before", 2_000_000, disabled.before],
  ["disabled, while measured", 500_000, disabled.during],
  ["disabled, after", 2_000_000, disabled.after],
  ["disabled, after, at a place not run meanwhile", 2_000_000, disabled.fresh],
  ["disabled, after a level that came and went", 2_000_000, disabled.changed],
  ["enabled, before", 50_000, enabled.before],
  ["enabled, while measured", 50_000, enabled.during],
  ["enabled, after", 50_000, enabled.after],
];

await compareCalls<Subject>({
  libraries: ["pino"],
  subject(attached) {
    const made = {
      before: rootOf(attached),
      during: rootOf(attached),
      after: rootOf(attached),
      fresh: rootOf(attached),
      changed: rootOf(attached),
    };
    const subject = Object.fromEntries(Object.entries(made).map(([name, { root }]) => [name, root])) as Subject;
    train(subject, disabled.after, enabled.after);
    for (const { loggers } of [made.after, made.fresh]) {
      const measurement = loggers?.measure();
      if (loggers === made.after.loggers) train(subject, disabled.after, enabled.after);
      measurement?.end();
    }
    train(subject, disabled.changed);
    made.changed.loggers?.setLevel("ROOT", "DEBUG");
    train(subject, disabled.changed);
    made.changed.loggers?.setLevel("ROOT", "INFO");
    made.during.loggers?.measure({ durationMs: 300_000 });
    return subject;
  },
  calls,
});
