/**
 * What a call of a pino logger costs before, while and after tails are open, beside pino as it is.
 *
 * Only the call is measured. What is taken is read later, by a timer. Sinks keep what they take as `Logs` does, but without its
 * limits: records beyond them would cost less.
 */
import { type Logger, pino } from "pino";
import { pinoLoggers } from "../src/adapters/loggers/pino/index.ts";
import type { RecordSink } from "../src/loggers/adapter.ts";
import { levelVerbosity } from "../src/loggers/level.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { Entry } from "../src/logs/entry.ts";
import { Logs } from "../src/logs/logs.ts";
import { type Call, compareCalls } from "./support/calls.ts";

const NAME = "app.orders";
const TRACE = levelVerbosity("TRACE");
/** So often that the engine has compiled the place of a call for what it has seen there. */
const TRAINING = 200_000;
/** How many records a ring keeps. */
const KEPT = 4_096;

interface Application {
  readonly logger: Logger;
  readonly loggers: Loggers | undefined;
}

function application(attached: boolean): Application {
  const root = pino({ base: null }, { write: () => {} });
  const loggers = attached ? new Loggers() : undefined;
  loggers?.attach(pinoLoggers(root));
  const logger = root.child({ name: NAME });
  // A logger without children is slower, since the engine makes an object fast when it becomes a prototype.
  logger.child({ reqId: 1 }).debug("x");
  return { logger, loggers };
}

/** Takes every record for so many tails with different conditions. */
function sink(tails: number, hiddenVerbosity = 0): RecordSink {
  const rings = Array.from({ length: tails }, (): Entry[] => []);
  return {
    verbosity: TRACE,
    hiddenVerbosity,
    take(record) {
      const entry = new Entry(NAME, "pino", Date.now(), record, undefined);
      for (const ring of rings) {
        if (ring.length === KEPT) ring.length = 0;
        ring.push(entry);
      }
    },
  };
}

const enabled = ({ logger }: Application) => logger.info({ order: 4711, state: "paid" }, "order is paid");
const disabled = ({ logger }: Application) => logger.debug({ order: 4711, state: "paid" }, "order is paid");
const request = ({ logger }: Application) => {
  const log = logger.child({ reqId: 1 });
  for (let step = 0; step < 3; step++) log.info("step");
};
const train = (subject: Application) => {
  for (let count = 0; count < TRAINING; count++) {
    enabled(subject);
    disabled(subject);
  }
};

/** What happens to the loggers before a call is measured. Those of a copy of pino share a tail, so each has a process of its own. */
const before = {
  nothing: () => {},
  otherTail: ({ loggers }: Application) => void (loggers && new Logs(loggers).open({ names: ["other"] })),
  oneTail: ({ loggers }: Application) => void loggers?.hear(() => sink(1)),
  tenTails: ({ loggers }: Application) => void loggers?.hear(() => sink(10)),
  hidingTail: ({ loggers }: Application) => void loggers?.hear(() => sink(1, TRACE), true),
  fiftyTails: (subject: Application) => {
    const { loggers } = subject;
    for (let round = 0; round < 50; round++) {
      // Every other one makes what the level drops.
      loggers?.hear(() => sink(1, round % 2 === 0 ? TRACE : 0), round % 2 === 0);
      for (let count = 0; count < 1_000; count++) enabled(subject);
      loggers?.hear(undefined);
    }
    train(subject);
  },
} satisfies Record<string, (subject: Application) => void>;

interface Row {
  readonly name: string;
  readonly count: number;
  readonly before: (subject: Application) => void;
  readonly call: (subject: Application) => unknown;
  /** What bare pino does instead. */
  readonly bareCall?: (subject: Application) => unknown;
}

const [few, many] = [30_000, 2_000_000];
const { nothing, otherTail, oneTail, tenTails, hidingTail, fiftyTails } = before;
const rows: readonly Row[] = [
  { name: "disabled, no tail", count: many, before: nothing, call: disabled },
  { name: "enabled, no tail", count: few, before: nothing, call: enabled },
  { name: "disabled, a tail of other loggers", count: many, before: otherTail, call: disabled },
  { name: "enabled, a tail of other loggers", count: few, before: otherTail, call: enabled },
  { name: "child with 3 calls, a tail of other loggers", count: few / 5, before: otherTail, call: request },
  { name: "disabled, a tail that matches", count: many, before: oneTail, call: disabled },
  { name: "enabled, a tail that matches", count: few, before: oneTail, call: enabled },
  { name: "enabled, ten tails that match", count: few, before: tenTails, call: enabled },
  { name: "child with 3 calls, a tail that matches", count: few / 5, before: oneTail, call: request },
  {
    name: "made for a tail alone, beside a written one",
    count: few,
    before: hidingTail,
    call: disabled,
    bareCall: enabled,
  },
  { name: "disabled, after 50 tails", count: many, before: fiftyTails, call: disabled },
  { name: "enabled, after 50 tails", count: few, before: fiftyTails, call: enabled },
];

await compareCalls<Application>({
  libraries: ["pino"],
  subject(attached, name) {
    const subject = application(attached);
    train(subject);
    rows.find((row) => row.name === name)!.before(subject);
    return subject;
  },
  calls: rows.map(({ name, count, call, bareCall = call }): Call<Application> => {
    return [name, count, process.argv[2] === "bare" ? bareCall : call];
  }),
});
