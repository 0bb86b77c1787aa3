/**
 * `node tail-child.ts <pino|winston>`: an application that writes to the standard output. For each message with steps it makes loggers,
 * does the steps, and answers what tails heard and which levels applied. A line with "end" follows the last one that it wrote.
 */
import { writeSync } from "node:fs";
import pino from "pino";
import winston from "winston";
import { pinoLoggers } from "../../src/adapters/loggers/pino/index.ts";
import { winstonLoggers } from "../../src/adapters/loggers/winston/index.ts";
import type { LoggerAdapter } from "../../src/loggers/adapter.ts";
import type { Level } from "../../src/loggers/level.ts";
import { Loggers } from "../../src/loggers/loggers.ts";
import { Logs } from "../../src/logs/logs.ts";
import type { TailEvent } from "../../src/logs/query.ts";
import type { Tail } from "../../src/logs/tail.ts";
import { type Heard, NAMES, type Observed, type Step } from "./tail-model.ts";

interface Application {
  readonly adapter: LoggerAdapter;
  write(name: string, level: Level, id: number): void;
  setLevel(name: string, level: Level): void;
  /** The levels that the library itself has, if it has one for each name. */
  levels(): readonly string[] | undefined;
}

const fieldsOf = (id: number) => ({ id, order: { token: `secret ${id}`, items: [id, `${id}`] } });

const APPLICATIONS: Readonly<Record<string, () => Application>> = {
  pino() {
    const root = pino({ base: null, level: "info", redact: ["order.items[1]"] });
    const adapter = pinoLoggers(root);
    const children = new Map(NAMES.map((name) => [name, name === "ROOT" ? root : root.child({ name })]));
    return {
      adapter,
      write: (name, level, id) => children.get(name)![level.toLowerCase() as "info"](fieldsOf(id), `message ${id}`),
      setLevel(name, level) {
        children.get(name)!.level = level.toLowerCase();
      },
      levels: () => NAMES.map((name) => children.get(name)!.level.toUpperCase()),
    };
  },
  winston() {
    const transports = [new winston.transports.Stream({ stream: process.stdout })];
    const root = winston.createLogger({ level: "info", format: winston.format.json(), transports });
    const adapter = winstonLoggers(root);
    const children = new Map(NAMES.map((name) => [name, name === "ROOT" ? root : root.child({ logger: name })]));
    return {
      adapter,
      write: (name, level, id) => void children.get(name)!.log(level.toLowerCase(), `message ${id}`, fieldsOf(id)),
      setLevel: () => {},
      levels: () => undefined,
    };
  },
};

/** Tails have what was written after two intervals of theirs. */
const drained = () => new Promise((resolve) => setTimeout(resolve, 110));

/** Its loggers would be collected as soon as no step is left that uses them, and no adapter keeps them. */
const kept: Application[] = [];

async function run(library: string, steps: readonly Step[]): Promise<Observed> {
  const application = APPLICATIONS[library]!();
  kept.splice(0, 1, application);
  const loggers = new Loggers();
  const detach = loggers.attach(application.adapter);
  const logs = new Logs(loggers);
  const tails: Tail[] = [];
  const heard: Heard[][] = [];
  const ends: string[][] = [];
  const levels: (readonly string[])[] = [];
  let id = 0;

  function takeAll(): void {
    for (const [at, tail] of tails.entries()) {
      for (let event: TailEvent | undefined = tail.take(); event !== undefined; event = tail.take()) {
        if (event.type === "dropped") ends[at]!.push(`dropped ${event.reason} ${event.count}`);
        if (event.type === "raiseEnded") ends[at]!.push(event.reason);
        if (event.type !== "records") continue;
        for (const { logger, level, message, fields, onlyHere } of event.records) {
          heard[at]!.push({ logger, level, message, fields, onlyHere });
        }
      }
    }
  }

  for (const step of steps) {
    if (step.kind === "write") for (const name of NAMES) application.write(name, step.level, id++);
    else if (step.kind === "open") {
      const { names, level, raise } = step;
      tails.push(logs.open({ names, level, ...(raise && { raise: { ttlMs: 600_000, ...raise } }) }));
      heard.push([]);
      ends.push([]);
    } else if (step.kind === "close") {
      await drained();
      takeAll();
      tails[step.tail % tails.length]?.close();
    } else if (step.kind === "expire") {
      const tail = logs.open({ names: step.names, raise: { level: step.level, ttlMs: 1, onlyHere: step.onlyHere } });
      await new Promise<void>((resolve) => {
        tail.onEvent(() => tail.raiseTimeLeftMs === undefined && resolve());
        if (tail.start.raised.length === 0 && !step.onlyHere) resolve();
      });
      tail.close();
    } else if (step.kind === "application") application.setLevel(step.name, step.level);
    else if (step.kind === "set") loggers.setLevel(step.name, step.level);
    else loggers.restoreLevel(step.name);
    levels.push(NAMES.map((name) => loggers.effectiveLevel(name)));
    const native = application.levels();
    if (native !== undefined) levels.push(native);
  }
  await drained();
  takeAll();
  for (const tail of tails) tail.close();
  for (const name of NAMES) loggers.restoreLevel(name);
  levels.push(NAMES.map((name) => loggers.effectiveLevel(name)));
  logs.close();
  await loggers.close();
  detach();
  return { heard, ends, levels };
}

process.on("message", async (steps: readonly Step[]) => {
  const observed = await run(process.argv[2]!, steps);
  writeSync(1, '{"end":true}\n');
  process.send!(observed);
});
