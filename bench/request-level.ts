/**
 * What a call of a pino logger costs before, during and after a level for another request, compared with pino alone; and what it
 * costs to give a request a level.
 */
import { type Logger, pino } from "pino";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import type { Detach } from "../src/loggers/adapter.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { type Call, compareCalls } from "./support/calls.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

/** One root for each row, since what happened to one must not show on another. */
type Subject = Record<"before" | "during" | "after" | "fresh", Logger>;

/** So often that the engine has compiled the place of a call for what it has seen there. */
const TRAINING = 200_000;

const disabled = {
  before: ({ before }: Subject) => before.debug("x"),
  during: ({ during }: Subject) => during.debug("x"),
  after: ({ after }: Subject) => after.debug("x"),
  fresh: ({ fresh }: Subject) => fresh.debug("x"),
};
const train = (subject: Subject, ...calls: readonly ((subject: Subject) => void)[]) => {
  for (const call of calls) for (let count = 0; count < TRAINING; count++) call(subject);
};

/** A root with loggers of its own, or bare. */
function rootOf(attached: boolean): { root: Logger; loggers: Loggers | undefined; detach: Detach | undefined } {
  const root = pino({ base: null }, { write: () => {} });
  const loggers = attached ? new Loggers() : undefined;
  const detach = loggers?.attach(pinoLoggers(root));
  // A root without children is slower, since the engine makes an object fast when it becomes a prototype.
  root.child({ reqId: 1 }).debug("x");
  return { root, loggers, detach };
}

const calls: readonly Call<Subject>[] = [
  ["disabled, before any", 2_000_000, disabled.before],
  ["disabled, outside, while another request has one", 500_000, disabled.during],
  ["disabled, after", 2_000_000, disabled.after],
  ["disabled, after, at a place not run meanwhile", 2_000_000, disabled.fresh],
  ["enabled, before any", 50_000, ({ before }) => before.info("x")],
  ["enabled, outside, while another request has one", 50_000, ({ during }) => during.info("x")],
];

await compareCalls<Subject>({
  libraries: ["pino"],
  async subject(attached) {
    const made = {
      before: rootOf(attached),
      during: rootOf(attached),
      after: rootOf(attached),
      fresh: rootOf(attached),
    };
    const subject = Object.fromEntries(Object.entries(made).map(([name, { root }]) => [name, root])) as Subject;
    train(subject, disabled.after);
    made.after.loggers?.withLevel("DEBUG", () => undefined);
    made.fresh.loggers?.withLevel("DEBUG", () => undefined);
    train(subject, disabled.after);
    // Gates are taken down a second after the last request that needed them.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    void made.during.loggers?.withLevel("DEBUG", () => new Promise(() => undefined));
    return subject;
  },
  calls,
});

const milliseconds = (run: () => unknown): number => {
  const start = performance.now();
  run();
  return performance.now() - start;
};

/** `own`: each has a level, and so methods, of its own; otherwise they follow the root. */
async function openings(count: number, own: boolean): Promise<readonly string[]> {
  const times = { first: [] as number[], next: [] as number[], down: [] as number[] };
  for (let round = 0; round < 5; round++) {
    const { root, loggers, detach } = rootOf(true);
    const options = own ? { level: "warn" } : {};
    const held = Array.from({ length: count }, (_, index) => root.child({ name: `n${index}` }, options));
    const request = () => loggers!.withLevel("DEBUG", () => held.length);
    times.first.push(milliseconds(request));
    times.next.push(
      milliseconds(() => {
        for (let each = 0; each < 1_000; each++) request();
      }),
    );
    const start = performance.now();
    await loggers!.close();
    times.down.push(performance.now() - start);
    // Or it would find the loggers of the next round too.
    detach!();
  }
  const text = (values: readonly number[]) => `${median(values).toFixed(2)} ms`;
  // A thousand of them in so many milliseconds: each takes so many microseconds.
  const next = `${median(times.next).toFixed(2)} µs`;
  return [
    `${count} loggers, ${own ? "each with its own level" : "following"}`,
    text(times.first),
    next,
    text(times.down),
  ];
}

const rows: (readonly string[])[] = [];
for (const [count, own] of [
  [10_000, false],
  [10_000, true],
  [90_000, false],
] as const) {
  rows.push(await openings(count, own));
}
console.log();
printTable(["a request with a level", "first", "each next", "gates down"], rows);
