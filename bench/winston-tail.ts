/** What a call of a winston logger costs before, while and after tails are open, beside winston as it is. */
import { Writable } from "node:stream";
import winston from "winston";
import { winstonLoggers } from "../src/adapters/loggers/winston/index.ts";
import type { RecordSink } from "../src/loggers/adapter.ts";
import { levelVerbosity } from "../src/loggers/level.ts";
import { Loggers } from "../src/loggers/loggers.ts";
import { Entry } from "../src/logs/entry.ts";
import { type Call, compareCalls } from "./support/calls.ts";

const NAME = "app.orders";
const TRACE = levelVerbosity("TRACE");
const TRAINING = 20_000;
/** How many records a ring keeps. */
const KEPT = 4_096;

interface Application {
  readonly logger: winston.Logger;
  readonly loggers: Loggers | undefined;
}

function application(attached: boolean, format?: winston.Logform.Format): Application {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const root = winston.createLogger({
    transports: [new winston.transports.Stream({ stream })],
    ...(format && { format }),
  });
  const loggers = attached ? new Loggers() : undefined;
  loggers?.attach(winstonLoggers(root));
  return { logger: root.child({ name: NAME }), loggers };
}

function sink(hiddenVerbosity = 0): RecordSink {
  const ring: Entry[] = [];
  return {
    verbosity: TRACE,
    hiddenVerbosity,
    take(record) {
      if (ring.length === KEPT) ring.length = 0;
      ring.push(new Entry(NAME, "winston", Date.now(), record, undefined));
    },
  };
}

const enabled = ({ logger }: Application) => logger.info("order is paid", { order: 4711, state: "paid" });
const disabled = ({ logger }: Application) => logger.debug("order is paid", { order: 4711, state: "paid" });
const train = (subject: Application) => {
  for (let count = 0; count < TRAINING; count++) {
    enabled(subject);
    disabled(subject);
  }
};

const before = {
  nothing: () => {},
  otherTail: ({ loggers }: Application) => void loggers?.hear(() => undefined),
  oneTail: ({ loggers }: Application) => void loggers?.hear(() => sink()),
  hidingTail: ({ loggers }: Application) => void loggers?.hear(() => sink(TRACE), true),
  fiftyTails: (subject: Application) => {
    const { loggers } = subject;
    for (let round = 0; round < 50; round++) {
      loggers?.hear(() => sink(TRACE), round % 2 === 0);
      for (let count = 0; count < 500; count++) enabled(subject);
      loggers?.hear(undefined);
    }
    train(subject);
  },
} satisfies Record<string, (subject: Application) => void>;

interface Row {
  readonly name: string;
  readonly before: (subject: Application) => void;
  readonly call: (subject: Application) => unknown;
  readonly format?: winston.Logform.Format;
}

const { nothing, otherTail, oneTail, hidingTail, fiftyTails } = before;
const rows: readonly Row[] = [
  { name: "disabled, no tail", before: nothing, call: disabled },
  { name: "enabled, no tail", before: nothing, call: enabled },
  { name: "enabled, a tail of other loggers", before: otherTail, call: enabled },
  { name: "enabled, a tail that matches", before: oneTail, call: enabled },
  { name: "the same with a format of text", before: oneTail, call: enabled, format: winston.format.simple() },
  { name: "disabled, a tail that matches", before: oneTail, call: disabled },
  { name: "made for a tail alone", before: hidingTail, call: disabled },
  { name: "disabled, after 50 tails", before: fiftyTails, call: disabled },
  { name: "enabled, after 50 tails", before: fiftyTails, call: enabled },
];

await compareCalls<Application>({
  libraries: ["winston"],
  subject(attached, name) {
    const row = rows.find((each) => each.name === name)!;
    const subject = application(attached, row.format);
    train(subject);
    row.before(subject);
    return subject;
  },
  settle: () => new Promise(setImmediate),
  calls: rows.map(({ name, call }): Call<Application> => [name, 5_000, call]),
});
