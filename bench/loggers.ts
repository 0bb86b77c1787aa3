/**
 * Changes of level over 10,000 and 100,000 pino loggers: loggers that follow ROOT natively, and loggers that each need a push.
 * Times are of the domain call alone. Spring Boot changes ROOT over 42,000 inheriting loggers in 3.3 ms, with the request.
 */
import { pino } from "pino";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { environment } from "./support/environment.ts";
import { median } from "./support/median.ts";
import { printTable } from "./support/table.ts";

const rounds = 15;

/** Milliseconds for one change: the median of alternating between two levels. */
function timeOf(change: (level: "DEBUG" | "INFO") => void): number {
  const times: number[] = [];
  for (let round = -5; round < rounds; round++) {
    const start = performance.now();
    change(round % 2 === 0 ? "DEBUG" : "INFO");
    if (round >= 0) times.push(performance.now() - start);
  }
  return median(times);
}

function measure(count: number): readonly string[][] {
  const root = pino({}, { write: () => {} });
  const loggers = new Loggers();
  const detach = loggers.attach(pinoLoggers(root));
  const held = Array.from({ length: count }, (_, index) =>
    root.child({ name: `app.package${index % 97}.logger${index}` }),
  );
  const inheriting = timeOf((level) => loggers.setLevel("ROOT", level));
  loggers.setLevel("app", "WARN");
  const own = timeOf((level) => loggers.setLevel("app", level));
  const enabled = held.filter((logger) => logger.isLevelEnabled("debug")).length;
  if (enabled !== 0 && enabled !== count) throw new Error(`${enabled} of ${count} loggers changed`);
  detach();
  const label = count.toLocaleString("en");
  const row = (what: string, time: number, goal: number): string[] => [
    `${label} loggers, ${what}`,
    `${time.toFixed(3)} ms`,
    `≤ ${goal} ms${time > goal ? " short" : ""}`,
  ];
  const goals = count === 10_000 ? ([1, 10] as const) : ([5, 100] as const);
  return [row("inheriting", inheriting, goals[0]), row("each with an own level", own, goals[1])];
}

console.log(environment("pino"));
printTable(["one change of level", "median", "reach"], [...measure(10_000), ...measure(100_000)]);
