/**
 * What a call of a pino logger costs with the adapter attached, beside a bare copy of pino in the same process. Rounds
 * alternate between the two; a ratio is the bare copy's time by the attached one's, so 1.00 means that nothing is added.
 */
import { createRequire } from "node:module";
import type { Logger, pino as Pino } from "pino";
import { Loggers } from "../src/loggers/loggers.ts";
import { pinoLoggers } from "../src/pino/index.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const require = createRequire(import.meta.url);
const rounds = 41;

/** A copy of pino of its own: prototype, functions and what the compiler learns of them are shared with nobody. */
function freshPino(): typeof Pino {
  for (const path of Object.keys(require.cache)) if (path.includes("node_modules")) delete require.cache[path];
  return (require("pino") as { pino: typeof Pino }).pino;
}

interface Subject {
  readonly root: Logger;
  readonly child: Logger;
}

function subject(attach: boolean): Subject {
  const root = freshPino()({ base: null }, { write: () => {} });
  const loggers = attach ? new Loggers() : undefined;
  loggers?.attach(pinoLoggers(root));
  const child = root.child({ name: "app.orders" });
  // A level that came and went must leave no trace in the speed of the calls.
  loggers?.setLevel("app.orders", "TRACE");
  loggers?.setLevel("app.orders", undefined);
  return { root, child };
}

const operations: readonly (readonly [string, number, (subject: Subject) => void])[] = [
  ["disabled call of the root", 2_000_000, ({ root }) => root.debug("x")],
  ["disabled call of a child", 2_000_000, ({ child }) => child.debug("x")],
  ["enabled call of the root", 100_000, ({ root }) => root.info("x")],
  ["enabled call of a child", 100_000, ({ child }) => child.info("x")],
  ["child without a name, as one of a request", 50_000, ({ root }) => root.child({ reqId: 1 })],
];

/** A loop of its own for each operation and subject, so that no call site is shared between what is compared. */
function loopOf(operation: (subject: Subject) => void, on: Subject, count: number): () => number {
  const loop = new Function("operation", "on", "count", "for (let i = 0; i < count; i++) operation(on)") as (
    ...of: unknown[]
  ) => void;
  const own = new Function(`return ${operation.toString()}`)() as typeof operation;
  return () => {
    const start = process.hrtime.bigint();
    loop(own, on, count);
    return Number(process.hrtime.bigint() - start) / count;
  };
}

const [bare, attached] = [subject(false), subject(true)];
console.log(environment("pino"));
const rows = operations.map(([name, count, operation]) => {
  const [timeBare, timeAttached] = [loopOf(operation, bare, count), loopOf(operation, attached, count)];
  for (let round = 0; round < 5; round++) [timeBare(), timeAttached()];
  const pairs = Array.from({ length: rounds }, (_, round) => {
    if (round % 2 === 0) return { bare: timeBare(), attached: timeAttached() };
    const first = timeAttached();
    return { bare: timeBare(), attached: first };
  });
  const ratio = median(pairs.map((pair) => pair.bare / pair.attached));
  return [
    name,
    `${median(pairs.map((pair) => pair.attached)).toFixed(1)} ns`,
    `${median(pairs.map((pair) => pair.bare)).toFixed(1)} ns`,
    ratio.toFixed(2),
  ];
});
printTable(["pino", "attached", "bare", "ratio"], rows);
